// What befalls an upload while it comes in: the connection is cut, the session dies, the BMC
// restarts, each after so many bytes.
#include <boost/asio/co_spawn.hpp>

#include "rehearsal/bmc/image_fetch.h"
#include "rehearsal/bmc/refusals.h"
#include "rehearsal/bmc/service.h"
#include "rehearsal/bmc/update_request.h"

namespace cupel::rehearsal {

class BmcService::Upload : public BodySink {
 public:
  Upload(std::weak_ptr<BmcService*> service, std::size_t limit, std::string_view content_type)
      : service_{std::move(service)}, limit_{limit}, body_{content_type} {}

  std::size_t limit() const override { return limit_; }
  bool take(std::string_view bytes) override {
    const auto before = body_.size();
    body_.take(bytes);
    const auto service = service_.lock();
    return service && (*service)->survives(before, body_.size());
  }
  std::shared_ptr<const ReceivedBody> finish() override {
    return std::make_shared<const ReceivedBody>(body_.finish());
  }

 private:
  std::weak_ptr<BmcService*> service_;
  std::size_t limit_;
  BodyReader body_;
};

std::unique_ptr<BodySink> BmcService::sink_of(const HttpRequest& head) {
  const auto& behavior = state_.update_behavior;
  const auto path = path_of(head.target);
  const bool uploads = head.method == "POST" && !path.empty() &&
                       (path == behavior.multipart || path == behavior.push);
  if (!uploads) return nullptr;
  return std::make_unique<Upload>(alive_, behavior.most_image, head.header("content-type"));
}

/// Ends with the image, or at its own patience; the service may be gone by then.
Task<void> BmcService::bring(std::weak_ptr<BmcService*> service, std::string id, LoopbackUri from,
                             std::shared_ptr<UpdateRequest> request, std::size_t limit) {
  auto image = co_await fetch_image(std::move(from), limit);
  const auto alive = service.lock();
  if (alive) (*alive)->brought(id, std::move(*request), std::move(image));
}

void BmcService::fetch(const std::string& id, const LoopbackUri& from, UpdateRequest request) {
  auto shared = std::make_shared<UpdateRequest>(std::move(request));
  asio::co_spawn(machine_.executor(),
                 bring(alive_, id, from, std::move(shared), state_.update_behavior.most_image),
                 [](std::exception_ptr) {});
}

void BmcService::brought(const std::string& id, UpdateRequest request,
                         Result<ReceivedImage> image) {
  settle();
  const auto now = machine_.clock().elapsed();
  if (image) {
    request.image = *std::move(image);
    const ReceivedBody nothing;
    take_fetched(change_of({}, {}, nothing), id, std::move(request));
  } else {
    state_.updates.not_fetched(id, image.error().what, now, updates_world_);
  }
  expect_next();
}

/// What happens between two bytes of an upload. False: its connection does not survive it.
bool BmcService::survives(std::size_t before, std::size_t now) {
  const auto comes = [&](FaultKind kind) {
    const auto* fault = find_fault(machine_.faults(), kind);
    if (fault == nullptr) return false;
    const auto at = static_cast<std::size_t>(std::max(1.0, fault->bytes.value_or(1)));
    return before < at && at <= now;
  };
  if (comes(FaultKind::session_dies))
    sessions_ = BmcSessions{state_.behavior.connection.sessions, kSessionTimeout};
  const bool restarts = comes(FaultKind::upload_restarts_bmc);
  if (restarts) restart();
  return !restarts && !comes(FaultKind::upload_cut);
}

}  // namespace cupel::rehearsal
