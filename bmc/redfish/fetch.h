#pragma once
// The one thing that reading an inventory needs: a document for a URI. Over HTTPS that is a Client;
// in tests it may be a captured tree in memory.
#include <string>

#include "base/json.h"
#include "base/task.h"

namespace cupel::bmc::redfish {

class Fetch {
 public:
  virtual ~Fetch() = default;

  /// The document at `uri` ("/redfish/v1/..."). Errors: as Client::get.
  virtual Task<Result<json::value>> get(std::string uri, Deadline deadline) = 0;
};

}  // namespace cupel::bmc::redfish
