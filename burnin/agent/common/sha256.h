#pragma once
// SHA-256 of a stream (FIPS 180-4). By the node's libcrypto where it has one, since that uses the
// processor's own instructions; otherwise by the portable code here.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace cupel::agent {

class Sha256 {
 public:
  enum class By { kBest, kPortable };

  explicit Sha256(By by = By::kBest);
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::string_view bytes);
  /// 64 lower-case hex digits. The last call: nothing can be added afterwards.
  std::string hex();

  class Engine {
   public:
    virtual ~Engine() = default;
    virtual void update(std::string_view bytes) = 0;
    virtual std::array<unsigned char, 32> finish() = 0;
  };

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace cupel::agent
