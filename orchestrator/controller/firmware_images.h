#pragma once
// The site's firmware images as updates get them: held against the manifest, and served to BMCs
// that fetch what they write where the inventory says from where.
#include <filesystem>

#include "orchestrator/firmware/image_check.h"
#include "orchestrator/images/image_server.h"

namespace cupel::controller {

class FirmwareImages {
 public:
  /// Copies of what is served lie in `state`, without a name.
  FirmwareImages(asio::any_io_executor executor, std::optional<inventory::ImageTrust> trust,
                 std::filesystem::path state)
      : executor_{std::move(executor)},
        trust_{trust},
        state_{std::move(state)},
        checker_{std::move(trust)} {}

  /// Errors: as firmware::ImageChecker::check.
  Task<Result<bmc::UpdateOrder>> order(firmware::FirmwareUpdate update, bmc::Identity machine,
                                       Deadline deadline);
  /// Errors: as firmware::ImageChecker::whole.
  Task<Result<std::shared_ptr<const std::string>>> whole(std::string file, std::string sha256,
                                                         Deadline deadline);

  /// Whether the inventory says from where BMCs fetch.
  bool serves() const { return trust_ && trust_->serve; }
  /// The URL under which a BMC that fetches by these words (bmc::UpdateService) fetches the image,
  /// for two hours at most: the bytes that were hashed, whatever becomes of the file. Errors:
  /// kConflict, kInvalid: it cannot be served; as firmware::transfer_for, and ImageChecker::copy.
  Task<Result<std::string>> serve(bmc::UpdateOrder order, std::vector<std::string> fetches_by,
                                  Deadline deadline);
  void serve_no_more(const std::string& url);

 private:
  Result<void> start_server();
  Result<void> renew_certificate();

  asio::any_io_executor executor_;
  std::optional<inventory::ImageTrust> trust_;
  std::filesystem::path state_;
  firmware::ImageChecker checker_;
  std::unique_ptr<images::ImageServer> server_{};
  std::string certificate_{};  // PEM, that the server shows
};

}  // namespace cupel::controller
