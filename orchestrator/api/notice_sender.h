#pragma once
// Sends one message to one hook: HTTP POST or SMTP, by the curl of the BMC client. Secrets are
// fetched for each message, and forgotten. TLS is always verified.
#include <memory>

#include "base/task.h"
#include "orchestrator/api/notice_text.h"

namespace cupel::bmc::redfish {
class CurlLoop;
}

namespace cupel::api {

/// What became of it. `why` names no secret.
struct Delivery {
  bool done = false;
  bool lasting = false;               // another try would fail in the same way
  std::chrono::milliseconds wait{0};  // that the other side asked for
  std::string why{};
};

class NoticeSender {
 public:
  explicit NoticeSender(asio::any_io_executor executor);
  ~NoticeSender();

  /// Within kPatience, whatever the other side does; reads kLargestAnswer of its answer at most.
  /// Cancel-safe: what was under way may have arrived.
  Task<Delivery> send(NoticeHook hook, NoticeMessage message);

  static constexpr std::chrono::seconds kPatience{20}, kConnectPatience{10};
  static constexpr std::size_t kLargestAnswer = 16u << 10;

 private:
  asio::any_io_executor executor_;
  std::shared_ptr<bmc::redfish::CurlLoop> loop_;
};

}  // namespace cupel::api
