// Answers that come gzip'ed though nobody asked for that: HPE's BIOS registries always do.
#include <zlib.h>

#include "tests/bmc/acting.h"

namespace cupel::bmc {
namespace {

constexpr int kGzip = 15 + 16, kZlib = 15;  // window bits. zlib.h

std::string packed(std::string text, int format = kGzip) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, format, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

class Compressed : public Acting {
 protected:
  static constexpr const char* kUri = "/redfish/v1/Chassis/1";

  Result<json::value> get(std::string body, std::string encoding) {
    auto habit = page(200, std::move(body), kUri);
    if (!encoding.empty()) habit.headers["Content-Encoding"] = encoding;
    server.misbehave(std::move(habit));
    auto one = client();
    auto answer = run(one.get(kUri, soon()));
    run(one.log_out());
    return answer;
  }
};

TEST_F(Compressed, IsReadWhateverItsHeaderSays) {
  const std::string text = R"({"Model": "Apollo"})";
  const std::vector<std::pair<std::string, std::string>> answers{{packed(text), "gzip"},
                                                                 {packed(text), ""},
                                                                 {packed(text, kZlib), "deflate"},
                                                                 {packed(text), "application/gzip"},
                                                                 {text, "gzip"},
                                                                 {text, "utf-8"}};
  for (const auto& [body, encoding] : answers) {
    const auto seen = get(body, encoding);

    ASSERT_TRUE(seen) << encoding << ": " << seen.error().what;
    EXPECT_EQ(text_at(*seen, "Model"), "Apollo");
  }
}

TEST_F(Compressed, IsCutOffAtTheLimitOfOneAnswer) {
  const auto refused = get(packed(std::string(100u << 20, ' ')), "gzip");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kMalformed);
  EXPECT_THAT(refused.error().what, HasSubstr("more than 4194304 bytes"));
}

TEST_F(Compressed, IsMalformedWhereItEndsTooEarly) {
  const auto whole = packed(R"({"Model": "Apollo"})");

  const auto refused = get(whole.substr(0, whole.size() / 2), "gzip");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kMalformed);
  EXPECT_THAT(refused.error().what, HasSubstr("compressed"));
}

TEST_F(Compressed, RegistryOfABiosChecksAValueBeforeItIsSent) {
  const std::string bios = "/redfish/v1/Systems/1/Bios", registries = "/redfish/v1/Registries";
  auto system = test_system();
  system.as_object()["Bios"] = link(bios);
  server.set(kSystem, system);
  server.set(bios, {{"AttributeRegistry", "BiosAttributeRegistryU46.v1_0_0"},
                    {"Attributes", {{"ProcSMT", "Enabled"}}},
                    {"@Redfish.Settings", {{"SettingsObject", link(bios + "/Settings")}}}});
  server.set(bios + "/Settings", {{"Attributes", {{"ProcSMT", "Enabled"}}}});
  const auto file = registries + "/BiosAttributeRegistryU46.v1_0_0";
  server.set(registries, collection({file}));
  server.set(file, {{"Location", json::array{{{"Language", "en"}, {"Uri", "/redfish/v1/Store"}}}}});
  auto habit = page(200, packed(R"({"RegistryEntries": {"Attributes": [{
      "AttributeName": "ProcSMT", "Type": "Enumeration",
      "Value": [{"ValueName": "Enabled"}, {"ValueName": "Disabled"}]}]}})"),
                    "/redfish/v1/Store");
  habit.times = 10;
  habit.headers["Content-Encoding"] = "gzip";
  server.misbehave(std::move(habit));
  const auto bmc = open();

  const auto done = run(bmc->bios.stage({{"ProcSMT", std::string{"Bogus"}}}, soon()));
  run(bmc->log_out());

  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().what, HasSubstr("ProcSMT is one of Enabled, Disabled"));
  EXPECT_EQ(count("PATCH"), 0);
}

}  // namespace
}  // namespace cupel::bmc
