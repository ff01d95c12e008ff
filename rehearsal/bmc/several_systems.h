#pragma once
// One BMC of several machines, as multi-node chassis have it: each machine is a System and a
// Chassis of that BMC. Accounts, sessions, the manager with its log and media, and updates are the
// first machine's. Which service answers a request, and the collections that list all of them.
#include <vector>

#include "rehearsal/bmc/service.h"

namespace cupel::rehearsal {

class SeveralSystems {
 public:
  /// `first` must outlive it.
  explicit SeveralSystems(BmcService& first) : first_{first} {}

  /// Another machine's resources, behind the logins of the first. `other` must outlive it.
  void add(BmcService& other);

  HttpResponse handle(const HttpRequest& request);
  /// The BMC has booted.
  void restarted();

 private:
  void add_members_of_others(const HttpRequest& request, HttpResponse& into);

  BmcService& first_;
  std::vector<BmcService*> others_{};
};

}  // namespace cupel::rehearsal
