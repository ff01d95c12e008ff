#pragma once
// The site's firmware images as updates get them: held against the manifest, and served to BMCs
// that fetch what they write where the inventory says from where.
#include "orchestrator/firmware/image_check.h"
#include "orchestrator/images/image_server.h"

namespace cupel::controller {

class FirmwareImages {
 public:
  FirmwareImages(asio::any_io_executor executor, std::optional<inventory::ImageTrust> trust)
      : executor_{std::move(executor)}, trust_{trust}, checker_{std::move(trust)} {}

  /// Errors: as firmware::ImageChecker::check; kConflict, kInvalid: it cannot be served.
  Task<Result<bmc::UpdateOrder>> order(firmware::FirmwareUpdate update, bmc::Identity machine,
                                       Deadline deadline);

 private:
  Result<std::string> served(const bmc::UpdateOrder& order);

  asio::any_io_executor executor_;
  std::optional<inventory::ImageTrust> trust_;
  firmware::ImageChecker checker_;
  std::unique_ptr<images::ImageServer> server_{};
};

}  // namespace cupel::controller
