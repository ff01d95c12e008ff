#pragma once
// The PDUs of a site that switch outlets, each behind HTTPS at a loopback address of its own.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "rehearsal/pdu/service.h"
#include "rehearsal/rack_inventory.h"

namespace cupel::rehearsal {

class RackPdus {
 public:
  /// `clock` and `site` must outlive it; `of` is what the site was made from.
  RackPdus(asio::any_io_executor executor, const Clock& clock, RackSite& site,
           const inventory::Inventory& of);

  /// All listen from now on, at ports of the operating system's choice. `folder` has their
  /// certificates; all take this password. Errors: kStorage, kInvalid, kConflict, kFailed.
  Result<void> listen(const std::filesystem::path& folder, const std::string& password);
  std::vector<PduAccess> access() const;
  void stop();

 private:
  struct Unit;
  Result<void> listen(Unit& unit, const std::filesystem::path& folder, const std::string& password);

  asio::any_io_executor executor_;
  const Clock& clock_;
  RackSite& site_;
  std::vector<std::shared_ptr<Unit>> units_{};
};

}  // namespace cupel::rehearsal
