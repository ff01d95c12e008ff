#pragma once
// The keyed hashes and the cipher that RMCP+ names, by OpenSSL, which no other file of this folder
// sees. Each is set up once for a key and used for every packet after that.
#include <array>
#include <initializer_list>
#include <memory>

#include "bmc/ipmi/bytes.h"

namespace cupel::bmc::ipmi {

enum class Hash { sha1, sha256 };

constexpr std::size_t size_of(Hash hash) { return hash == Hash::sha1 ? 20 : 32; }

/// HMAC (RFC 2104) under one key.
class Mac {
 public:
  Mac(Hash hash, View key);
  Mac(Mac&&) noexcept;
  Mac& operator=(Mac&&) noexcept;
  ~Mac();

  /// Of these one after the other.
  Bytes of(std::initializer_list<View> parts);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

using Block = std::array<std::uint8_t, 16>;

/// AES-128 in CBC, without padding of its own: whole blocks only.
class Aes {
 public:
  explicit Aes(const Block& key);
  Aes(Aes&&) noexcept;
  Aes& operator=(Aes&&) noexcept;
  ~Aes();

  /// In place; `count` is a multiple of 16.
  void encrypt(const Block& iv, std::uint8_t* data, std::size_t count);
  void decrypt(const Block& iv, std::uint8_t* data, std::size_t count);

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

/// Takes as long wherever they differ.
bool same_secret(View left, View right);

/// From the system's own generator for keys.
Block random_block();

/// Overwrites a secret that is no longer needed.
void wipe(std::string& secret);
void wipe(Bytes& secret);

}  // namespace cupel::bmc::ipmi
