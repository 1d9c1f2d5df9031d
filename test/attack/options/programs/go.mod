// This module keeps Go files that npm packages bring along out of ./... of the repository.
module programs

go 1.26
