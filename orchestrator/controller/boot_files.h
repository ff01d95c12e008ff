#pragma once
// The site's boot server and image store as steps get them: started when the first ticket is drawn,
// at the address that the inventory says.
#include "base/wall_clock.h"
#include "inventory/fwd.h"
#include "orchestrator/controller/boot_servers.h"
#include "orchestrator/images/image_store.h"
#include "orchestrator/os/boot_door.h"

namespace cupel::controller {

class BootFiles {
 public:
  /// `state`: the state folder, which has the images where the inventory names no folder.
  /// `servers` must outlive it. `now`: for tests.
  BootFiles(asio::any_io_executor executor, const inventory::Inventory& inventory,
            const std::filesystem::path& state, BootServers& servers,
            std::function<std::chrono::sys_seconds()> now = seconds_now);

  /// Its functions use this object, which must outlive it.
  std::shared_ptr<os::BootInterface> door();

 private:
  Result<os::BootImage> image(const std::string& name,
                              std::initializer_list<images::ImageKind> kinds) const;
  Result<netboot::BootService*> service();
  /// See BootInterface.
  Result<void> check_certificate();
  Result<void> take_new_certificate();
  /// Called while machines are waited for: at most once in some seconds it reads the file.
  void look_for_new_certificate();
  /// A disc is one machine's: its ticket stands in it.
  Result<void> make_disc(const netboot::Ticket& ticket, netboot::BootOrder& order) const;
  std::filesystem::path disc_of(const std::string& token) const;

  asio::any_io_executor executor_;
  const inventory::Inventory& inventory_;
  std::filesystem::path images_;
  BootServers& servers_;
  std::function<std::chrono::sys_seconds()> now_;
  std::shared_ptr<netboot::BootService> service_{};
  asio::ip::tcp::endpoint endpoint_{};  // that it was asked for
  std::string certificate_{};           // PEM, that was read last and is shown; empty: HTTP
  std::string not_taken_{};             // why the file's is not shown; empty: it is
  std::chrono::steady_clock::time_point next_look_{};
};

}  // namespace cupel::controller
