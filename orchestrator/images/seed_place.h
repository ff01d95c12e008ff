#pragma once
// Whether cloud-init would find the seed that the RAM system puts on a written image: seen in the
// image, as the node would see it only with its disk overwritten.
#include <string>

namespace cupel::images {

/// Why it would not. Empty: it would, or its root is on XFS or btrfs, into which nothing looks
/// here.
std::string why_no_seed(const std::string& file);

}  // namespace cupel::images
