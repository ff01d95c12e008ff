#pragma once
// What an image server may hand out, by the tokens of its URLs. Used from several threads.
#include <map>
#include <mutex>

#include "orchestrator/images/image_server.h"

namespace cupel::images {

/// Open for reading as long as somebody has it.
struct ServedFile {
  ServedFile(int descriptor, std::uint64_t bytes, Grant from);
  ServedFile(const ServedFile&) = delete;
  ServedFile& operator=(const ServedFile&) = delete;
  ~ServedFile();

  const int fd;
  const std::uint64_t size;
  const Grant grant;
  const std::chrono::steady_clock::time_point until;
  std::atomic<bool> revoked{false};

  bool is_over() const { return revoked || std::chrono::steady_clock::now() >= until; }
};

class ServedFiles {
 public:
  static constexpr std::size_t kMost = 20'000;

  /// The path of its URL: "/TOKEN/NAME". Errors: as ImageServer::grant.
  Result<std::string> add(Grant grant);
  void revoke(std::string_view path);
  /// nullptr: nothing for this peer under this path now.
  std::shared_ptr<ServedFile> find(std::string_view path, const asio::ip::address& peer);

 private:
  void forget_old();

  std::mutex mutex_{};
  std::map<std::string, std::shared_ptr<ServedFile>, std::less<>> files_{};
};

}  // namespace cupel::images
