#include "orchestrator/store/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace cupel::store {
namespace {

constexpr int kGzip = 15 + 16;  // window bits; 16 more: gzip's header and checksum. zlib.h
constexpr int kMemory = 8;      // zlib's usual

// Beyond this many bytes speed counts: the controller waits for it.
constexpr std::size_t kLarge = 4u << 20;

Bytef* bytes_of(std::string_view text) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));  // zlib only reads it
}

}  // namespace

std::string gzipped(std::string_view bytes) {
  z_stream stream{};
  const int level = bytes.size() > kLarge ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION;
  if (::deflateInit2(&stream, level, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error{"zlib: deflateInit2"};
  std::string packed(::deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = bytes_of(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int done = ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (done != Z_STREAM_END) throw std::runtime_error{"zlib: deflate"};
  return packed;
}

Result<std::string> gunzipped(std::string_view packed, std::size_t limit) {
  z_stream stream{};
  if (::inflateInit2(&stream, kGzip) != Z_OK) throw std::runtime_error{"zlib: inflateInit2"};
  stream.next_in = bytes_of(packed);
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string bytes;
  std::array<char, 65536> piece{};
  int state = Z_OK;
  while (state == Z_OK && bytes.size() <= limit) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    state = ::inflate(&stream, Z_NO_FLUSH);
    bytes.append(piece.data(), piece.size() - stream.avail_out);
  }
  const bool whole = state == Z_STREAM_END && stream.avail_in == 0 && bytes.size() <= limit;
  ::inflateEnd(&stream);
  if (whole) return bytes;
  return Error{Code::kMalformed, "it is no whole gzip file, or larger than it may be"};
}

}  // namespace cupel::store
