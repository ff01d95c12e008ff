#include "rehearsal/bmc/image_reader.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <new>

namespace cupel::rehearsal {
namespace {

EVP_MD_CTX* context_in(void* context) { return static_cast<EVP_MD_CTX*>(context); }

std::string digest_of(EVP_MD_CTX* context) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_DigestFinal_ex(context, digest.data(), &length);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const auto byte : std::span{digest}.first(length)) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace

void ImageReader::Free::operator()(void* context) const { EVP_MD_CTX_free(context_in(context)); }

ImageReader::ImageReader() : context_{EVP_MD_CTX_new()} {
  const bool begun =
      context_ && EVP_DigestInit_ex(context_in(context_.get()), EVP_sha256(), nullptr) == 1;
  if (!begun) throw std::bad_alloc{};
}

void ImageReader::hash(std::string_view bytes) {
  EVP_DigestUpdate(context_in(context_.get()), bytes.data(), bytes.size());
}

void ImageReader::take(std::string_view bytes) {
  image_.size += bytes.size();
  const auto room = kMostKept - image_.head.size();
  image_.head += bytes.substr(0, std::min(room, bytes.size()));
  if (bytes.size() >= kSeal) {
    hash(tail_);
    hash(bytes.substr(0, bytes.size() - kSeal));
    tail_ = bytes.substr(bytes.size() - kSeal);
    return;
  }
  tail_ += bytes;
  if (tail_.size() <= kSeal) return;
  const auto more = tail_.size() - kSeal;
  hash(std::string_view{tail_}.substr(0, more));
  tail_.erase(0, more);
}

ReceivedImage ImageReader::finish() {
  std::unique_ptr<void, Free> before{EVP_MD_CTX_new()};
  const bool copied =
      before && EVP_MD_CTX_copy_ex(context_in(before.get()), context_in(context_.get())) == 1;
  image_.sealed = copied && tail_.size() == kSeal && digest_of(context_in(before.get())) == tail_;
  hash(tail_);
  image_.sha256 = digest_of(context_in(context_.get()));
  return std::move(image_);
}

}  // namespace cupel::rehearsal
