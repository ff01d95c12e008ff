// `slurm:` and `kubernetes:` of an inventory: how a scheduler is asked, and with whose word.
#include "inventory/read_slurm.h"

#include <gmock/gmock.h>

#include "inventory/load.h"

namespace cupel::inventory {
namespace {
using ::testing::HasSubstr;

std::string site(const std::string& sections, const std::string& node = {}) {
  return "site: lab\n" + sections +
         "\ndefaults:\n  profile: dgx-h100\n  bmc: {user: admin, password: \"env:P\"}\n"
         "nodes:\n  - {name: n1, bmc: {address: 10.0.1.1}, ssh: {address: 10.0.2.1}" +
         node + "}\n";
}

Inventory read(const std::string& text) {
  auto loaded = parse_inventory(text, "site.yaml", "/srv/site");
  EXPECT_EQ(to_string(loaded.problems), "");
  return std::move(loaded.inventory).value_or(Inventory{});
}

std::string reported(const std::string& text) {
  return to_string(parse_inventory(text, "site.yaml", "/srv/site").problems);
}

TEST(ReadSlurm, ReadsHowSlurmrestdIsAsked) {
  const auto slurm =
      read(site("slurm: {features: [qualified], rest: {url: 'https://slurm.example.com:6820/api/', "
                "user: cupel, token: 'file:secrets/jwt', ca: /etc/hostname}}"))
          .slurm;

  ASSERT_TRUE(slurm && slurm->rest);
  EXPECT_EQ(slurm->partition, "gpu");
  EXPECT_EQ(slurm->rest->url, "https://slurm.example.com:6820/api");
  EXPECT_EQ(slurm->rest->user, "cupel");
  EXPECT_EQ(slurm->rest->token, (SecretRef{SecretRef::Kind::file, "/srv/site/secrets/jwt"}));
  EXPECT_EQ(slurm->rest->ca, "/etc/hostname");
}

TEST(ReadSlurm, UsesScontrolByDefault) {
  const auto slurm = read(site("slurm: {configuration: slurm.conf, reservation: true}")).slurm;

  ASSERT_TRUE(slurm);
  EXPECT_FALSE(slurm->rest);
  EXPECT_TRUE(slurm->reservation);
  EXPECT_EQ(slurm->configuration, "/srv/site/slurm.conf");
}

TEST(ReadSlurm, NeedsNoTokenForAUnixSocket) {
  const auto slurm = read(site("slurm: {rest: {url: 'unix:/run/slurmrestd.sock'}}")).slurm;

  const auto as_uri = read(site("slurm: {rest: {url: 'unix:///run/slurmrestd.sock'}}")).slurm;

  ASSERT_TRUE(slurm && slurm->rest);
  EXPECT_FALSE(slurm->rest->token);
  ASSERT_TRUE(as_uri && as_uri->rest);
  EXPECT_EQ(as_uri->rest->url, "unix:/run/slurmrestd.sock");
}

TEST(ReadSlurm, ReadsHowKubernetesIsAsked) {
  const auto inventory = read(site(
      "kubernetes: {server: 'https://10.0.0.1:6443', token: 'env:KUBE', label: example.com/ok=yes}",
      ", kubernetes_name: n1.example.org"));

  ASSERT_TRUE(inventory.kubernetes);
  EXPECT_EQ(inventory.kubernetes->server, "https://10.0.0.1:6443");
  EXPECT_EQ(inventory.kubernetes->token, (SecretRef{SecretRef::Kind::env, "KUBE"}));
  EXPECT_EQ(inventory.kubernetes->label, "example.com/ok");
  EXPECT_EQ(inventory.kubernetes->label_value, "yes");
  EXPECT_EQ(inventory.kubernetes->taint, "cupel/not-qualified");
  EXPECT_EQ(inventory.nodes.front().kubernetes_name, "n1.example.org");
}

TEST(ReadSlurm, SendsNoTokenInClearOverANetwork) {
  for (const auto* url : {"http://10.0.0.1:6820", "http://slurm.example.com", "ftp://127.0.0.1"})
    EXPECT_THAT(fault_in_server_url(url, true).value_or("none"), HasSubstr("https://")) << url;
  for (const auto* url : {"http://127.0.0.1:6820", "http://[::1]:6820", "https://10.0.0.1"})
    EXPECT_EQ(fault_in_server_url(url, true), std::nullopt) << url;
}

TEST(ReadSlurm, RefusesWhatIsNoServer) {
  const std::vector<std::pair<std::string, std::string>> faults{
      {"10.0.0.1:6820", "is no URL"},
      {"https://", "is no URL"},
      {"https://u:p@10.0.0.1", "no user"},
      {"https://10.0.0.1/?a=b", "no query"},
      {"https://10.0.0.1/#a", "no fragment"},
      {"https://10.0.0.1/\r\nX: y", "is no URL"},
      {"https://10.0.0.1/" + std::string(2000, 'a'), "is no URL"},
      {"unix:run/x", "unix:/PATH"},
      {"unix://run/x", "unix:///PATH"},
      {"unix:/" + std::string(200, 'a'), "107 characters"},
  };
  for (const auto& [url, why] : faults)
    EXPECT_THAT(fault_in_server_url(url, true).value_or("none"), HasSubstr(why)) << url;
  EXPECT_THAT(fault_in_server_url("unix:/run/x", false).value_or("none"), HasSubstr("https://"));
}

TEST(ReadSlurm, NamesEveryFaultWithItsPlace) {
  EXPECT_THAT(reported(site("slurm: {rest: {url: 'http://10.0.0.1', tokn: 'env:X'}}")),
              AllOf(HasSubstr("site.yaml:2:21: url must begin with https://"),
                    HasSubstr("url needs token"), HasSubstr("did you mean 'token'")));
  EXPECT_THAT(
      reported(site("slurm: {rest: {url: 'https://x', user: 'a b', token: eyJhbGciOi}}")),
      AllOf(HasSubstr("user 'a b' may have"), HasSubstr("token must say where it is kept")));
  EXPECT_THAT(reported(site("slurm: {reservation: true, rest: {url: 'unix:/x'}}")),
              HasSubstr("slurmrestd offers no reservations"));
  EXPECT_THAT(reported(site("slurm: {rest: {url: 'https://x', token: 'env:X', ca: none.pem}}")),
              HasSubstr("there is no file /srv/site/none.pem"));
  EXPECT_THAT(reported(site("kubernetes: {server: 'https://x', token: 'env:X', label: 'a b=c'}")),
              HasSubstr("label is KEY=VALUE"));
  EXPECT_THAT(reported(site("kubernetes: {server: 'https://x', token: 'env:X', taint: -x}")),
              HasSubstr("taint is a key"));
  EXPECT_THAT(reported(site("kubernetes: {server: 'https://x', token: 'env:X', condition: 'a b'}")),
              HasSubstr("condition is a type"));
  EXPECT_THAT(reported(site("kubernetes: {server: 'https://x', token: 'env:X', condition: Ready}")),
              HasSubstr("condition Ready is the kubelet's own"));
  EXPECT_THAT(reported(site("kubernetes: {server: 'https://x', token: 'env:X'}",
                            ", kubernetes_name: Node_1")),
              HasSubstr("Kubernetes name 'Node_1'"));
}

constexpr const char* kBoth = "slurm: {}\nkubernetes: {server: 'https://x', token: 'env:X'}";

TEST(ReadSlurm, EachNodeOfASiteWithBothNamesItsScheduler) {
  const auto kubernetes = read(site(kBoth, ", scheduler: kubernetes"));
  const auto both = read(site(kBoth, ", scheduler: [slurm, kubernetes]"));
  const auto alone = read(site("slurm: {}"));

  EXPECT_FALSE(kubernetes.is_of_slurm(kubernetes.nodes.front()));
  EXPECT_TRUE(kubernetes.is_of_kubernetes(kubernetes.nodes.front()));
  EXPECT_TRUE(both.is_of_slurm(both.nodes.front()));
  EXPECT_TRUE(both.is_of_kubernetes(both.nodes.front()));
  EXPECT_TRUE(alone.is_of_slurm(alone.nodes.front()));
  EXPECT_FALSE(alone.is_of_kubernetes(alone.nodes.front()));
}

TEST(ReadSlurm, TheSchedulerOfDefaultsIsThatOfNodesWhichNameNone) {
  auto text = site(kBoth);
  text.insert(text.find("  bmc:"), "  scheduler: slurm\n");
  const auto by_default = read(text);
  auto other = site(kBoth, ", scheduler: kubernetes");
  other.insert(other.find("  bmc:"), "  scheduler: slurm\n");
  const auto own = read(other);

  EXPECT_FALSE(by_default.is_of_kubernetes(by_default.nodes.front()));
  EXPECT_FALSE(own.is_of_slurm(own.nodes.front()));
}

TEST(ReadSlurm, ASchedulerThatIsMissingOrUnknownIsAnError) {
  EXPECT_THAT(reported(site(kBoth)), HasSubstr("needs scheduler: slurm, kubernetes or"));
  EXPECT_THAT(reported(site(kBoth, ", scheduler: nomad")), HasSubstr("not 'nomad'"));
  EXPECT_THAT(reported(site("slurm: {}", ", scheduler: kubernetes")),
              HasSubstr("has no kubernetes section"));
  EXPECT_THAT(reported(site("", ", scheduler: slurm")), HasSubstr("has no slurm section"));
}

TEST(ReadSlurm, NeverShowsATokenThatStandsInTheFile) {
  EXPECT_THAT(reported(site("slurm: {rest: {url: 'https://x', token: eyJhbGciOi}}")),
              ::testing::Not(HasSubstr("eyJhbGciOi")));
}

TEST(ReadSlurm, ReadsTheJobsThatRunsMaySubmit) {
  const auto slurm = read(site("slurm: {jobs: [{name: nccl, script: /etc/hostname, results: out, "
                               "reservation: bringup}]}"))
                         .slurm;

  ASSERT_TRUE(slurm);
  ASSERT_NE(slurm->job("nccl"), nullptr);
  EXPECT_EQ(slurm->job("nccl")->script, "/etc/hostname");
  EXPECT_EQ(slurm->job("nccl")->results, "/srv/site/out");
  EXPECT_EQ(slurm->job("nccl")->partition, "");
  EXPECT_EQ(slurm->job("nccl")->reservation, "bringup");
  EXPECT_EQ(slurm->job("hpl"), nullptr);
}

TEST(ReadSlurm, RefusesJobsThatSbatchWouldMisunderstand) {
  const auto problems =
      reported(site("slurm: {jobs: [{name: a, script: /etc/hostname, results: /r/%j}, "
                    "{name: a, script: /etc, results: /r, partition: 'a,b'}, {name: '-x'}]}"));

  for (const auto* fault :
       {"results must be a path of letters, digits and /._-+@:", "there are two jobs 'a'",
        "/etc is a folder, a pipe or a device: name a file", "partition 'a,b'", "job name '-x'",
        "script", "results"})
    EXPECT_THAT(problems, HasSubstr(fault));
}

TEST(ReadSlurm, TakesJobsBesideSlurmrestd) {
  const auto slurm = read(site("slurm: {rest: {url: 'unix:/x'}, jobs: [{name: a, script: "
                               "/etc/hostname, results: /r}]}"))
                         .slurm;

  ASSERT_TRUE(slurm && slurm->rest);
  EXPECT_NE(slurm->job("a"), nullptr);
}

TEST(ReadSlurm, KnowsWhatKubernetesTakesForAKeyAndAValue) {
  for (const auto* key : {"x", "nvidia.com/gpu.ok", "a/B_c-d.e"})
    EXPECT_TRUE(is_kubernetes_key(key)) << key;
  for (const auto* key : {"", "/x", "a/", "A/x", "a..b/x", "-x", "x-", "a/b/c", "a b"})
    EXPECT_FALSE(is_kubernetes_key(key)) << key;
  for (const auto* value : {"", "yes", "run-3", "A_b.c"})
    EXPECT_TRUE(is_kubernetes_value(value)) << value;
  EXPECT_FALSE(is_kubernetes_value(std::string(64, 'a')));
  EXPECT_FALSE(is_kubernetes_value("a/b"));
}

}  // namespace
}  // namespace cupel::inventory
