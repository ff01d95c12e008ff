#pragma once
// Loads and stores of 16 bytes that need not stay in a cache. Plain PTX and no intrinsics, so that
// every compiler of device code has them.
// Source: PTX ISA, "Cache Operators": .cs is accessed once, .cv is fetched again each time.
#ifndef CUPEL_CUDA_ON_HOST
#include <cuda_runtime.h>

namespace cupel::burn {

inline __device__ uint4 read_once(const uint4* from) {
  uint4 is;
  asm("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(is.x), "=r"(is.y), "=r"(is.z), "=r"(is.w)
      : "l"(from));
  return is;
}

inline __device__ ulonglong2 read_once(const ulonglong2* from) {
  ulonglong2 is;
  asm("ld.global.cs.v2.u64 {%0, %1}, [%2];" : "=l"(is.x), "=l"(is.y) : "l"(from));
  return is;
}

inline __device__ uint4 read_again(const uint4* from) {
  uint4 is;
  asm volatile("ld.global.cv.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(is.x), "=r"(is.y), "=r"(is.z), "=r"(is.w)
               : "l"(from)
               : "memory");
  return is;
}

inline __device__ void write_once(uint4* to, uint4 what) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(to), "r"(what.x), "r"(what.y), "r"(what.z), "r"(what.w)
               : "memory");
}

inline __device__ void write_once(ulonglong2* to, ulonglong2 what) {
  asm volatile("st.global.cs.v2.u64 [%0], {%1, %2};"
               :
               : "l"(to), "l"(what.x), "l"(what.y)
               : "memory");
}

}  // namespace cupel::burn
#endif
