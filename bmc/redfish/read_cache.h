#pragma once
// What a BMC said at the last audit, with its ETags, so that the next one asks only whether it has
// changed (If-None-Match). In memory, bounded, one for each BMC; whoever audits repeatedly owns it.
// Not for states that verbs act on: those are read with Fetch::get_now.
#include <functional>
#include <list>
#include <map>
#include <optional>

#include "bmc/redfish/client.h"

namespace cupel::bmc::redfish {

/// A body, and the tag under which the BMC knows it.
struct Kept {
  std::string etag;
  std::string body;  // JSON
};

/// The door; what stands behind it may be a store.
class ReadCache {
 public:
  virtual ~ReadCache() = default;
  virtual std::optional<Kept> lookup(const std::string& uri) = 0;
  virtual void keep(const std::string& uri, Kept what) = 0;
};

/// The ones used longest ago go when `bytes` are exceeded; a body larger than that is not kept.
class MemoryCache final : public ReadCache {
 public:
  explicit MemoryCache(std::size_t bytes = 8u << 20) : limit_{bytes} {}
  std::optional<Kept> lookup(const std::string& uri) override;
  void keep(const std::string& uri, Kept what) override;
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    Kept kept;
    std::list<std::string>::iterator place;
  };
  void forget(const std::string& uri);

  std::size_t limit_;
  std::size_t bytes_ = 0;
  std::map<std::string, Entry> entries_;
  std::list<std::string> order_;  // used last in front
};

/// Reads through a client, for one audit, and counts what it took. A 304 serves what was kept.
/// Without a cache it asks for everything. `client` and `cache` must outlive it.
class AuditFetch final : public Fetch {
 public:
  AuditFetch(Client& client, ReadCache* cache)
      : client_{client}, cache_{cache}, asking_{client.bmc_limits()} {}

  Task<Result<json::value>> get(std::string uri, Deadline deadline) override;
  Task<Result<json::value>> get_now(std::string uri, Deadline deadline) override;
  void follow(const Rules& rules) override { client_.follow(rules); }
  std::string system() const override { return client_.system(); }
  bool remembers() const override { return cache_ != nullptr; }
  void nearly_done() override { asking_.nearly_done(); }

  std::size_t bytes() const { return bytes_; }
  int unchanged() const { return unchanged_; }
  /// Whether the session ended while it was used, as it does when a BMC restarts.
  bool lost_its_session() const { return lost_session_; }

 private:
  Task<Result<Answer>> ask(std::string uri, std::string etag, Deadline deadline);

  Client& client_;
  ReadCache* cache_;
  LongRead asking_;
  std::size_t bytes_ = 0;
  int unchanged_ = 0;
  int answers_ = 0;
  bool lost_session_ = false;
};

}  // namespace cupel::bmc::redfish
