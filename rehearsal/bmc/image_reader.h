#pragma once
// An image while it comes in, piece by piece: it is hashed and counted, and no more than its first
// bytes are kept, however long it is. What stands in it: firmware.h.
#include <memory>
#include <string>
#include <string_view>

namespace cupel::rehearsal {

struct ReceivedImage {
  std::string head{};  // its first bytes: the whole of a small one
  std::size_t size = 0;
  std::string sha256{};
  bool sealed = false;  // its last 64 bytes are the SHA-256, in hexadecimal, of all before them
};

class ImageReader {
 public:
  static constexpr std::size_t kMostKept = 64 * 1024;
  static constexpr std::size_t kSeal = 64;

  ImageReader();
  void take(std::string_view bytes);
  std::size_t size() const { return image_.size; }
  /// Once, after the last piece.
  ReceivedImage finish();

 private:
  void hash(std::string_view bytes);

  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;
  std::string tail_{};  // the last bytes, which may be the seal: not hashed yet
  ReceivedImage image_{};
};

}  // namespace cupel::rehearsal
