#pragma once
// The kernels as this program carries them, an image for each .cu file: machine code for the chips
// that are known, which takes a driver of the CUDA that compiled it, and PTX of 7.8 for all other
// drivers and chips, which the driver compiles.
#include <span>

namespace cupel::burn {

struct Image {
  const void* machine_code = nullptr;  // a "fat binary", with PTX for later chips
  const char* ptx = nullptr;
};

std::span<const Image> images();

}  // namespace cupel::burn
