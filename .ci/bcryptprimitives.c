/* Go asks this library for random bytes, and Wine 8 has none. It hands on what
   advapi32 gives. Built by .ci/windows, for its tests alone. */
__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *, unsigned long);
__declspec(dllexport) int __stdcall ProcessPrng(void *p, unsigned long long n) { return SystemFunction036(p, (unsigned long)n); }
