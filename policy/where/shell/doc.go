// Package shell is the constraint `command`.
package shell
