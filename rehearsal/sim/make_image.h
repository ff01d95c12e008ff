#pragma once
// `cupel-sim image`: a firmware image for virtual machines, as rehearsal/bmc/image.h has it.
#include <string>
#include <vector>

#include "rehearsal/sim/say.h"

namespace cupel::rehearsal {

struct ImageSource {
  std::string file{};
  std::vector<std::string> contents{};  // COMPONENT=VERSION
  std::string model{};
  std::size_t size = 0;  // 0: as short as it can be
};

/// Writes the file and prints {"file", "size", "sha256"}.
SimExit make_image(const ImageSource& source);

}  // namespace cupel::rehearsal
