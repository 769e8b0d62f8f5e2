import fc from 'fast-check';

// That a property fails is all that matters here: no time goes into the smallest example.
fc.configureGlobal({ endOnFailure: true });
