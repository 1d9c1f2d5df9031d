package main

// stayInBackground does nothing: this system stops no process that reads.
func stayInBackground() {}

// neverFollow is nothing here: links are seen before the file is opened.
const neverFollow = 0
