#pragma once
// What the threads of the service share: the site's settings and inventory, which change as a
// whole, and what the controller last said of what steps wait for.
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>

#include "inventory/model.h"
#include "orchestrator/api/authenticator.h"
#include "orchestrator/api/counters.h"
#include "orchestrator/api/login_limits.h"
#include "orchestrator/api/replaced.h"
#include "orchestrator/api/stream_place.h"

namespace cupel::api {

/// What steps of runs wait for, in words for people. Bounded by the nodes that work.
class WaitingWords {
 public:
  void put(engine::RunId run, std::string_view node, std::string_view words) {
    const std::scoped_lock lock{mutex_};
    auto& known = words_[{run, std::string{node}}];
    if (known == words) return;
    known = words;
    ++changes_[run];
  }
  void drop(engine::RunId run, std::string_view node) {
    const std::scoped_lock lock{mutex_};
    if (words_.erase({run, std::string{node}}) > 0) ++changes_[run];
  }
  /// Another one whenever words of the run have changed: to be asked before of(), which copies the
  /// words of 10,000 nodes.
  std::uint64_t changes(engine::RunId run) const {
    const std::scoped_lock lock{mutex_};
    const auto found = changes_.find(run);
    return found == changes_.end() ? 0 : found->second;
  }
  std::map<std::string, std::string, std::less<>> of(engine::RunId run) const {
    const std::scoped_lock lock{mutex_};
    std::map<std::string, std::string, std::less<>> found;
    for (auto at = words_.lower_bound({run, ""}); at != words_.end() && at->first.first == run;
         ++at)
      found.emplace(at->first.second, at->second);
    return found;
  }

 private:
  mutable std::mutex mutex_{};
  std::map<std::pair<engine::RunId, std::string>, std::string> words_{};
  std::map<engine::RunId, std::uint64_t> changes_{};
};

struct Shared {
  std::filesystem::path state{};
  std::filesystem::path programs{};
  std::string version{};
  engine::WallTime started{};
  bool rehearsal = false;
  Replaced<Site> site{};
  Replaced<inventory::Inventory> inventory{};
  LoginLimits logins{};
  RequestRate rate{200};
  RefusalNotes refusals{};
  WaitingWords waiting{};
  Counters counters{};
  /// A stream from this place on; nullptr: as many are open as there may be.
  std::function<std::shared_ptr<Feed>(StreamPlace place, const Identity&)> feed{};
  std::function<std::size_t()> connections{}, streams{};
};

}  // namespace cupel::api
