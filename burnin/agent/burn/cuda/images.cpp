#include "burnin/agent/burn/cuda/images.h"

#include <array>

// CUPEL_IMAGES is the folder in which the build has put them.
#define CUPEL_EMBED(symbol, file)                                                        \
  asm(".pushsection .rodata\n.balign 16\n.globl " symbol "\n.hidden " symbol "\n" symbol \
      ":\n.incbin \"" CUPEL_IMAGES "/" file "\"\n.byte 0\n.popsection\n")
#define CUPEL_IMAGE(name)                                         \
  CUPEL_EMBED("cupel_" #name "_fatbin", #name "_kernels.fatbin"); \
  CUPEL_EMBED("cupel_" #name "_ptx", #name "_kernels.ptx");       \
  extern "C" const unsigned char cupel_##name##_fatbin[];         \
  extern "C" const char cupel_##name##_ptx[]

CUPEL_IMAGE(gemm);
CUPEL_IMAGE(hbm);
CUPEL_IMAGE(link);
CUPEL_IMAGE(sm);
CUPEL_IMAGE(train);

namespace cupel::burn {

std::span<const Image> images() {
  static constexpr std::array kAll{
      Image{cupel_gemm_fatbin, cupel_gemm_ptx}, Image{cupel_hbm_fatbin, cupel_hbm_ptx},
      Image{cupel_link_fatbin, cupel_link_ptx}, Image{cupel_sm_fatbin, cupel_sm_ptx},
      Image{cupel_train_fatbin, cupel_train_ptx}};
  return kAll;
}

}  // namespace cupel::burn
