#pragma once
// The REST API of NetBox and of Nautobot, with a token. Reads page by page; answers are bounded and
// hostile until they are parsed: no address that they name is asked.
// Sources: NetBox, "REST API overview"; Nautobot, "REST API".
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/handoff/api_client.h"

namespace cupel::dcim {

enum class Product { netbox, nautobot };

std::string_view to_string(Product product);

/// What answers at the URL: its /api/status/ says.
struct Server {
  Product product = Product::netbox;
  std::string version{};  // "4.2.6"
};

/// "site=oslo-1": a filter of a list; the same key may come several times.
using Filters = std::vector<std::pair<std::string, std::string>>;

/// "/api/dcim/devices/?site=oslo%201": each value percent-encoded (RFC 3986, 2.1).
std::string path_with(std::string_view path, const Filters& filters);

/// Of one list: more is an error.
struct ListLimits {
  std::size_t items = 200'000;
  std::size_t bytes = 512u << 20;  // as JSON
};

class Client {
 public:
  /// `url`: as inventory::fault_in_server_url() takes it.
  Client(std::string url, std::string ca, inventory::SecretRef token, ListLimits most = {});

  /// Errors of all of these: as handoff::ApiClient::ask(); kFailed with the server's words for any
  /// other status; kMalformed.
  Task<Result<Server>> status(Deadline deadline);
  /// All items, each once by its id. kBusy: the list grew or shrank while it was read, and an item
  /// may be missing; kMalformed: more than there may be.
  Task<Result<std::vector<json::object>>> list(std::string path, Filters filters,
                                               Deadline deadline);
  /// The newest items of a list, one page.
  Task<Result<std::vector<json::object>>> first(std::string path, Filters filters,
                                                Deadline deadline);
  Task<Result<void>> patch(std::string path, json::object change, Deadline deadline);
  Task<Result<void>> post(std::string path, json::object item, Deadline deadline);

 private:
  struct Page {
    std::vector<json::object> items{};
    bool is_last = true;
    std::optional<double> count{};  // of the whole list, as the server says
  };
  Task<Result<json::value>> ask(handoff::ApiRequest request, Deadline deadline);
  Task<Result<Page>> page(std::string path, Filters filters, std::size_t offset, Deadline deadline);

  handoff::ApiClient client_;
  ListLimits most_;
};

/// "12", or the UUID of Nautobot; empty: it has none that could stand in a path.
std::string id_of(const json::object& item);

}  // namespace cupel::dcim
