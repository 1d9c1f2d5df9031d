// Package installed keeps the servers that the command "clawai sandbox install" has put into
// clawai's state folder. Each server has one folder of files, and one manifest that names the
// folder in use. A server is started only from a folder that a manifest names.
//
// Strangers have written the files of a package. So this package checks the form of their names and
// paths.
package installed
