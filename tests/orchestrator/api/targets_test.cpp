// The nodes as Prometheus itself discovers them: its own tool asks the service over TLS.
#include "tests/orchestrator/api/api_fixture.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"

namespace cupel::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Targets : ApiTest {
  void SetUp() override {
    ApiTest::SetUp();
    write("secret", "s3cr3t-0123456789\n");
    write("site.yaml",
          "site: here\nracks:\n  - {name: a01, units: 48}\n  - {name: a02, units: 48}\n"
          "defaults:\n  profile: dgx-h100\n  bmc: {user: admin, password: \"file:" +
              file("secret") +
              "\", tls: {trust: first-use}}\n  ssh: {user: root, key: " + file("secret") + R"(}
nodes:
  - {name: a01-n01, rack: a01, unit: 1, bmc: {address: 127.64.99.1}, ssh: {address: 127.64.98.1}}
  - {name: a02-n01, rack: a02, unit: 1, bmc: {address: 127.64.99.2}, ssh: {address: 127.64.98.2}}
)");
    write("service.yaml", "inventory: site.yaml\n");
    append(run_of_two(), engine::EventKind::run_ended, "", "", "{}");
    auto options = usual();
    options.settings = file("service.yaml");
    serve(options);
  }
};

TEST_F(Targets, PrometheusDiscoversTheNodesThatItsTokenMaySee) {
  CUPEL_NEEDS_REAL_PART(testing::run({"promtool", "--version"}).status == 0,
                        "no promtool: apt-get install prometheus");
  write("token", token("prometheus", "viewer", {"a01"}));
  write("prometheus.yml",
        "scrape_configs:\n  - job_name: nodes\n    http_sd_configs:\n      - url: "
        "https://127.0.0.1:" +
            std::to_string(endpoint().port()) +
            "/metrics/targets?port=9400\n        authorization: {type: Bearer, credentials_file: "
            "token}\n"
            "        tls_config: {ca_file: " +
            (state() / "service-certificate.pem").string() + R"(, server_name: localhost}
    relabel_configs:
      - {source_labels: [__meta_cupel_verdict], target_label: verdict}
)");

  const auto found = testing::run(
      {"promtool", "check", "service-discovery", "--timeout=20s", file("prometheus.yml"), "nodes"});

  ASSERT_EQ(found.status, 0) << found.out << found.err;
  EXPECT_THAT(found.out, AllOf(HasSubstr("127.64.98.1:9400"), HasSubstr("\"verdict\": \"fail\""),
                               HasSubstr("\"rack\": \"a01\""), Not(HasSubstr("127.64.98.2"))))
      << found.err;
}

TEST_F(Targets, OfOneRackOrProfileAndWithAPortOfTheirOwn) {
  const auto targets_at = [&](const std::string& query) {
    return json::serialize(get("/metrics/targets" + query).json());
  };

  EXPECT_THAT(targets_at(""), AllOf(HasSubstr("127.64.98.1:9100"), HasSubstr("127.64.98.2:9100")));
  EXPECT_THAT(targets_at("?rack=a02"),
              AllOf(Not(HasSubstr("127.64.98.1")), HasSubstr("127.64.98.2:9100")));
  EXPECT_EQ(targets_at("?profile=gb200"), "[]");
  EXPECT_EQ(get("/metrics/targets?port=0").status, 422);
  EXPECT_EQ(get("/metrics/targets?port=65536").status, 422);
}

}  // namespace
}  // namespace cupel::test
