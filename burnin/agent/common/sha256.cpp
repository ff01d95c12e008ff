#include "burnin/agent/common/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "burnin/agent/common/shared_library.h"

namespace cupel::agent {
namespace {

using Digest = std::array<unsigned char, 32>;

constexpr std::size_t kBlock = 64;

// FIPS 180-4, 4.2.2.
constexpr std::array<std::uint32_t, 64> kRound{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

class Portable final : public Sha256::Engine {
 public:
  void update(std::string_view bytes) override {
    length_ += bytes.size();
    if (held_ > 0) {
      const auto taken = std::min(kBlock - held_, bytes.size());
      std::memcpy(rest_.data() + held_, bytes.data(), taken);
      held_ += taken;
      bytes.remove_prefix(taken);
      if (held_ < kBlock) return;
      mix(rest_.data());
      held_ = 0;
    }
    for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock))
      mix(reinterpret_cast<const unsigned char*>(bytes.data()));
    std::memcpy(rest_.data(), bytes.data(), bytes.size());
    held_ = bytes.size();
  }

  Digest finish() override {
    const std::uint64_t bits = length_ * 8;
    std::string end(1, '\x80');
    end.append((kBlock + 56 - (length_ + 1) % kBlock) % kBlock, '\0');
    for (int shift = 56; shift >= 0; shift -= 8) end += static_cast<char>(bits >> shift);
    update(end);
    Digest digest{};
    for (std::size_t i = 0; i < digest.size(); ++i)
      digest[i] = static_cast<unsigned char>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
  }

 private:
  void mix(const unsigned char* block) {
    std::array<std::uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i)
      w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
             std::uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
    for (std::size_t i = 16; i < 64; ++i) {
      const auto low = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const auto high = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + low + w[i - 7] + high;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      const auto high = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const auto one = h + high + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
      const auto low = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const auto two = low + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    const std::array<std::uint32_t, 8> mixed{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state_[i] += mixed[i];
  }

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, kBlock> rest_{};
  std::size_t held_ = 0;
  std::uint64_t length_ = 0;
};

/// OpenSSL's functions as libcrypto 1.1 and 3 have them.
struct Crypto {
  void* (*make)() = nullptr;
  void (*free)(void*) = nullptr;
  const void* (*sha256)() = nullptr;
  int (*init)(void*, const void*, void*) = nullptr;
  int (*update)(void*, const void*, std::size_t) = nullptr;
  int (*finish)(void*, unsigned char*, unsigned*) = nullptr;
};

Result<Crypto> load_crypto() {
  const std::array<std::string, 2> names{"libcrypto.so.3", "libcrypto.so.1.1"};
  TRY(const auto library, SharedLibrary::open(names));
  Crypto crypto;
  TRY(library.load(crypto.make, "EVP_MD_CTX_new"));
  TRY(library.load(crypto.free, "EVP_MD_CTX_free"));
  TRY(library.load(crypto.sha256, "EVP_sha256"));
  TRY(library.load(crypto.init, "EVP_DigestInit_ex"));
  TRY(library.load(crypto.update, "EVP_DigestUpdate"));
  TRY(library.load(crypto.finish, "EVP_DigestFinal_ex"));
  return crypto;
}

class ByLibrary final : public Sha256::Engine {
 public:
  explicit ByLibrary(const Crypto& crypto) : crypto_{crypto}, context_{crypto.make()} {
    good_ = context_ != nullptr && crypto.init(context_, crypto.sha256(), nullptr) == 1;
  }
  ~ByLibrary() override { crypto_.free(context_); }
  ByLibrary(const ByLibrary&) = delete;
  ByLibrary& operator=(const ByLibrary&) = delete;

  bool good() const { return good_; }
  void update(std::string_view bytes) override {
    good_ = good_ && crypto_.update(context_, bytes.data(), bytes.size()) == 1;
  }
  /// Zeros where the library failed: no file's digest, so that nothing matches it.
  Digest finish() override {
    Digest digest{};
    unsigned length = 0;
    if (!good_ || crypto_.finish(context_, digest.data(), &length) != 1) digest.fill(0);
    return digest;
  }

 private:
  const Crypto& crypto_;
  void* context_;
  bool good_;
};

std::unique_ptr<Sha256::Engine> make_engine(Sha256::By by) {
  static const auto crypto = load_crypto();
  if (by == Sha256::By::kBest && crypto) {
    auto made = std::make_unique<ByLibrary>(*crypto);
    if (made->good()) return made;
  }
  return std::make_unique<Portable>();
}

}  // namespace

Sha256::Sha256(By by) : engine_{make_engine(by)} {}
Sha256::~Sha256() = default;
void Sha256::update(std::string_view bytes) { engine_->update(bytes); }

std::string Sha256::hex() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const auto byte : engine_->finish()) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace cupel::agent
