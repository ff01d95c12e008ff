#pragma once
// The one thing that reading an inventory needs: a document for a URI. Over HTTPS that is a Client;
// in tests it may be a captured tree in memory.
#include <string>

#include "base/json.h"
#include "base/task.h"

namespace cupel::bmc::redfish {

struct Rules;

class Fetch {
 public:
  virtual ~Fetch() = default;

  /// The document at `uri` ("/redfish/v1/..."). Errors: as Client::get.
  virtual Task<Result<json::value>> get(std::string uri, Deadline deadline) = 0;

  /// The same, as it is now: never one that was kept from another time (read_cache.h).
  virtual Task<Result<json::value>> get_now(std::string uri, Deadline deadline) {
    return get(std::move(uri), deadline);
  }

  /// What is known of this BMC's behavior from now on (which resources take minutes).
  virtual void follow(const Rules&) {}

  /// Which of several Systems is meant, by its Id; empty: there is one.
  virtual std::string system() const { return {}; }

  /// The last questions are about to be asked.
  virtual void nearly_done() {}

  /// Whether get() may serve what it read before, after asking the BMC whether that still holds.
  virtual bool remembers() const { return false; }
};

}  // namespace cupel::bmc::redfish
