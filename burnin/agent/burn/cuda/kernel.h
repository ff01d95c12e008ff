#pragma once
// How a kernel is declared. It has a plain name, by which the driver finds it in the images that
// the program carries (images.h). The definition in a .cu file and each launch are held against the
// one declaration in <command>_entries.h.
#if defined(__CUDACC__) || defined(__CUDA__)
#define CUPEL_KERNEL extern "C" __global__ void
#else
#define CUPEL_KERNEL extern "C" void
#endif
