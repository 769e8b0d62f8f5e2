//go:build tools

// Package interop names what is built here.
package interop

import _ "github.com/openconfig/gnmic"
