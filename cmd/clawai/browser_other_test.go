//go:build !unix

package main

// browserProgram is not needed where no test signs in.
func browserProgram() {}
