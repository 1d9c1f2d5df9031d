// Package installed keeps the servers that clawai sandbox install has put into clawai's state folder:
// for each server one folder of files, and one manifest that says which folder counts. A folder
// without a manifest is nothing: no server is started from it.
//
// What a package holds was written by strangers. Names and paths of it are believed only in the
// forms that this package checks.
package installed
