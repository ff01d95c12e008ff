#include "orchestrator/images/http_message.h"

#include <algorithm>

namespace cupel::images {

std::vector<Piece> part_of(const std::vector<Piece>& pieces, std::uint64_t first,
                           std::uint64_t size) {
  std::vector<Piece> part;
  for (auto piece : pieces) {
    const auto length = piece.length(), skipped = std::min(first, length);
    const auto taken = std::min(size, length - skipped);
    first -= skipped;
    size -= taken;
    if (taken == 0) continue;
    piece.offset += skipped;
    piece.size = taken;
    if (!piece.file) piece.text = piece.text.substr(skipped, taken);
    part.push_back(std::move(piece));
  }
  return part;
}

}  // namespace cupel::images
