#pragma once
// The bytes of an object that is sent, piece by piece and again from any place.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

#include "orchestrator/archive/bucket_client.h"

namespace cupel::archive {

class ObjectSource {
 public:
  /// `body` must outlive it. Errors: kStorage: its file cannot be read.
  static Result<ObjectSource> of(const ObjectBody& body);

  std::uint64_t size() const { return size_; }
  /// How many were put into `into`; 0 at the end. Nothing: the file cannot be read.
  std::optional<std::size_t> read(char* into, std::size_t most);
  /// The next bytes are those from `offset` on.
  bool seek(std::int64_t offset);

 private:
  struct Closed {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string_view bytes_{};
  std::unique_ptr<std::FILE, Closed> file_{};
  std::size_t at_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace cupel::archive
