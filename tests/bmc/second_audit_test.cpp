// Every captured machine audited twice: what has an ETag and did not change does not come again.
#include "bmc/redfish/read_cache.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captures.h"

namespace cupel::bmc {
namespace {

struct Bytes {
  std::size_t tagged = 0;
  std::size_t untagged = 0;  // come again whole: no tag, a page of a collection, or a power state
};

/// Of what these GETs answer, as the capture has it.
Bytes bytes_of(const std::filesystem::path& tree, std::span<const std::string> lines) {
  Bytes bytes;
  for (const auto& line : lines) {
    if (!line.starts_with("GET ")) continue;
    const auto uri = line.substr(4);
    const auto body = parse_json(test::captured_answer(tree, uri).value_or("{}"));
    if (!body) continue;
    const std::string_view systems = "/redfish/v1/Systems/";
    const bool system = uri.starts_with(systems) && uri.find('/', systems.size()) >= uri.size() - 1;
    const bool always =
        uri == "/redfish/v1" || uri == "/redfish/v1/Systems" || system || uri.find('?') != uri.npos;
    const bool tagged = !always && text_at(*body, "@odata.etag");
    (tagged ? bytes.tagged : bytes.untagged) += serialize(*body).size();
  }
  return bytes;
}

class SecondAudit : public ::testing::TestWithParam<const char*> {};

TEST_P(SecondAudit, TransfersUnderATenthOfTheBytesThatHaveTags) {
  CUPEL_NEED_CAPTURE(tree, GetParam());
  asio::io_context io;
  test::HttpsServer server{{.tree = tree}};
  redfish::Transport transport{io.get_executor()};
  RememberedKeys keys;
  redfish::MemoryCache cache;
  const inventory::BmcAccess access{
      .endpoint = server.endpoint(), .user = "admin", .password = {}, .trust = {}};
  const std::string password = "open sesame";
  const auto bmc =
      redfish::open(transport, "a01-n01", access, password_from(password), keys, {}, &cache);

  const auto first = run_to_end(io, bmc->facts.observe(Deadline::in(60s)));
  const auto asked_first = server.asked().lines.size();
  const auto second = run_to_end(io, bmc->facts.observe(Deadline::in(60s)));
  run_to_end(io, [](Bmc& one) -> Task<bool> {
    co_await one.log_out();
    co_return true;
  }(*bmc));

  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->parts, second->parts);
  EXPECT_EQ(first->unknown, second->unknown);
  const auto lines = server.asked().lines;
  const auto now = bytes_of(tree, std::span{lines}.subspan(asked_first));
  const auto again = second->bytes;
  EXPECT_LE(again, now.untagged + now.tagged / 10);
  if (now.tagged > 0) EXPECT_GT(second->unchanged, 0);
  const auto share = [](std::size_t part, std::size_t of) {
    return static_cast<int>(100 * part / std::max<std::size_t>(of, 1));
  };
  RecordProperty("first_bytes", static_cast<int>(first->bytes));
  RecordProperty("second_bytes", static_cast<int>(again));
  RecordProperty("percent_with_tags", share(now.tagged, now.tagged + now.untagged));
  RecordProperty("percent_of_first", share(again, first->bytes));
}

INSTANTIATE_TEST_SUITE_P(
    Captured, SecondAudit,
    ::testing::Values("nvidia_viking", "supermicro", "dell", "hpe", "lenovo", "nvidia_gb200",
                      "nvidia_dpu", "nvidia-bluefield3-bmc-23.10", "XL675d_A100", "OpenBMC-stock",
                      "Gigabyte", "hpe-dl380a-gen11-ilo6-2xh100nvl", "lenovo-sr670v2-xcc-1.40"),
    [](const auto& machine) {
      std::string name = machine.param;
      for (char& c : name)
        if (c == '-' || c == '.') c = '_';
      return name;
    });

}  // namespace
}  // namespace cupel::bmc
