// What follows from a declaration alone is made once for each: it may have ten thousand entries, and a plan is made
// every few seconds, and for each `cnpctl show status`.

/** @param make its result must not be changed */
export function onceEach<Declared extends object, Made>(make: (declared: Declared) => Made): (from: Declared) => Made {
  const made = new WeakMap<Declared, { readonly of: Made }>();
  return (declared) => {
    let known = made.get(declared);
    if (!known) made.set(declared, (known = { of: make(declared) }));
    return known.of;
  };
}
