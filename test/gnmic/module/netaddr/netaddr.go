// Package netaddr stands in for a library of which gnmic's output templates call a few functions.
package netaddr

import (
	"errors"
	"net"
	"net/netip"
)

type IP = netip.Addr

type IPPrefix struct{ netip.Prefix }

type IPRange struct{ From, To IP }

func ParseIP(s string) (IP, error) { return netip.ParseAddr(s) }

func ParseIPRange(string) (IPRange, error) { return IPRange{}, errors.New("ranges are left out of this build") }

func ParseIPPrefix(s string) (IPPrefix, error) {
	p, err := netip.ParsePrefix(s)
	return IPPrefix{p}, err
}

func (p IPPrefix) Masked() IPPrefix { return IPPrefix{p.Prefix.Masked()} }

func (p IPPrefix) IPNet() *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
