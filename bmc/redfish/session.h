#pragma once
// The sessions that this process has with one BMC: one for each user and password, shared by all
// clients that log in with these. BMCs have four to sixteen of them in all.
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace cupel::bmc::redfish {

struct Basic {
  std::string user;
  std::string password;
};

struct Session {
  std::string token{};
  std::string uri{};             // to be deleted in the end
  std::optional<Basic> basic{};  // where the BMC has no session left for us
  bool proven = false;           // these credentials worked at least once
  int holders = 0;               // clients that have not logged out

  bool usable() const { return !token.empty() || basic; }
};

/// By a digest of the credentials that is kept nowhere else.
using Sessions = std::map<std::string, std::shared_ptr<Session>>;

}  // namespace cupel::bmc::redfish
