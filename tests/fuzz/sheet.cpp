// Any bytes as a list of assets and as a file of cables: tables as spreadsheets save them.
#include "inventory/sheet.h"

#include <cstdlib>

#include "inventory/asset_list.h"
#include "inventory/cable_files.h"

namespace {
using namespace cupel::inventory;

constexpr std::size_t kMostOfAFile = kMostBadRows + 1;
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  std::vector<Problem> problems;
  for (const auto& asset : parse_assets(bytes, "assets.csv", problems))
    if (asset.serial.empty() || asset.where.line < 1) std::abort();
  if (problems.size() > kMostOfAFile) std::abort();
  problems.clear();
  for (const auto& cable : parse_cables(bytes, "cables.csv", problems))
    if (cable.from.empty() || cable.to_port.empty()) std::abort();
  if (problems.size() > kMostOfAFile) std::abort();
  return 0;
}
