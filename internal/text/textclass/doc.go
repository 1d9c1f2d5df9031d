// Package textclass answers what text from strangers is: which characters hide, move or
// imitate, what a tool's name says the tool does, and which names and places hold
// secrets. Each question has one table here, and each difference between those who
// ask it has its reason here. It imports nothing of ours.
package textclass
