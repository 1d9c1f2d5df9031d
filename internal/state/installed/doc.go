// Package installed keeps the servers that clawai sandbox install has put into clawai's state
// folder: for each server one folder of files, and one manifest that names the folder in use. No
// server is started from a folder that no manifest names.
//
// Strangers have written the files of a package. This package accepts their names and paths only in
// forms that it checks.
package installed
