#include "bmc/redfish/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace cupel::bmc::redfish {

bool is_compressed(std::string_view body) {
  constexpr std::array<std::string_view, 5> kBeginnings{"\x1F\x8B", "\x78\x01", "\x78\x5E",
                                                        "\x78\x9C", "\x78\xDA"};
  return std::ranges::any_of(kBeginnings, [&](auto begin) { return body.starts_with(begin); });
}

Result<std::string> inflated(std::string_view body, std::size_t limit) {
  constexpr int kEither = 15 + 32;  // window bits; 32 more: gzip or zlib, whichever it is. zlib.h
  z_stream stream{};
  if (::inflateInit2(&stream, kEither) != Z_OK)
    return Error{Code::kMalformed, "no memory for a compressed answer"};
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  std::string text;
  std::array<char, 16384> piece{};
  int state = Z_OK;
  while (state == Z_OK && text.size() <= limit) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    state = ::inflate(&stream, Z_NO_FLUSH);
    text.append(piece.data(), piece.size() - stream.avail_out);
  }
  ::inflateEnd(&stream);
  if (text.size() > limit)
    return Error{Code::kMalformed, "an answer of more than " + std::to_string(limit) + " bytes"};
  if (state == Z_STREAM_END) return text;
  return Error{Code::kMalformed, "a compressed answer that is cut off or damaged"};
}

}  // namespace cupel::bmc::redfish
