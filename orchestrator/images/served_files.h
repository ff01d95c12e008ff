#pragma once
// What an image server may hand out, by the tokens of its URLs. Used from several threads.
#include <map>
#include <mutex>

#include "orchestrator/images/image_server.h"
#include "orchestrator/images/open_file.h"

namespace cupel::images {

struct ServedFile {
  ServedFile(OpenFile::Ptr opened, Grant from)
      : file{std::move(opened)},
        grant{std::move(from)},
        until{std::chrono::steady_clock::now() + grant.lifetime} {}

  const OpenFile::Ptr file;
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
