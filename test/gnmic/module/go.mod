module cnpd-interop

go 1.23

require github.com/openconfig/gnmic v0.31.0

// gnmic needs it only for functions of output templates, and not every module proxy has it.
replace inet.af/netaddr => ./netaddr
