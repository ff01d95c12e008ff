#pragma once
// The site's boot server and image store as steps get them: started when the first ticket is drawn,
// at the address that the inventory says.
#include "inventory/model.h"
#include "orchestrator/images/image_store.h"
#include "orchestrator/netboot/boot_service.h"
#include "orchestrator/os/boot_door.h"

namespace cupel::controller {

class BootFiles {
 public:
  /// `state`: the state folder, which has the images where the inventory names no folder.
  BootFiles(asio::any_io_executor executor, const inventory::Inventory& inventory,
            const std::filesystem::path& state);

  /// Its functions use this object, which must outlive it.
  std::shared_ptr<os::BootDoor> door();

 private:
  Result<os::BootImage> image(const std::string& name,
                              std::initializer_list<images::ImageKind> kinds) const;
  Result<netboot::BootService*> service();
  /// A disc is one machine's: its ticket stands in it.
  Result<void> make_disc(const netboot::Ticket& ticket, netboot::BootOrder& order) const;
  std::filesystem::path disc_of(const std::string& token) const;

  asio::any_io_executor executor_;
  const inventory::Inventory& inventory_;
  std::filesystem::path images_;
  std::unique_ptr<netboot::BootService> service_{};
};

}  // namespace cupel::controller
