#pragma once
// `cupel-sim os-image`: what virtual machines boot and are installed with, as small as can be. An
// image store and a boot server take it like any other.
#include <string>

#include "rehearsal/sim/say.h"

namespace cupel::rehearsal {

/// Writes ram.efi, ram.iso and disk.raw.zst into the folder, and prints {"iso_ticket": {"offset",
/// "size"}, "content_size"} for their manifests.
SimExit make_os_image(const std::string& folder);

}  // namespace cupel::rehearsal
