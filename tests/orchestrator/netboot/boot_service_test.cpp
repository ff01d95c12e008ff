// The boot server, asked over HTTP as machines ask it.
#include "orchestrator/netboot/boot_service.h"

#include <future>

#include "orchestrator/netboot/protocol.h"
#include "tests/orchestrator/netboot/boot_fixture.h"
#include "tests/support/certificate.h"

namespace cupel::netboot {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using test::fetch;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

TEST_F(Booting, ServesWhatTheTicketPermitsAndNothingElse) {
  start();
  const auto ticket = service->issue(order()).value();
  const auto base = ticket.base_url;

  EXPECT_THAT(base, MatchesRegex("http://127.0.0.1:[0-9]+/boot/[0-9a-f]{32}/"));
  EXPECT_EQ(fetch({.url = base + "vmlinuz"}).body, "kernel");
  EXPECT_EQ(fetch({.url = base + "image"}).body, content_of("disk.raw.zst"));
  const auto part = fetch({.url = base + "image", .range = "1000-1999"});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, content_of("disk.raw.zst").substr(1000, 1000));
  EXPECT_EQ(fetch({.url = base + "image", .method = "DELETE"}).status, 405);
  for (const auto* other :
       {"root.squashfs", "disk.raw.zst", "", "seed/", "../../etc/passwd", "image/", "image?x"})
    EXPECT_EQ(fetch({.url = base + other}).status, 404) << other;
  EXPECT_EQ(fetch({.url = service->url() + "/boot/image"}).status, 404);
}

TEST_F(Booting, ServesTheRamSystemWithTheTicketInItsCommandLine) {
  start();
  const auto ticket = service->issue(order()).value();
  const auto original = content_of("ram.efi");

  const auto served = fetch({.url = ticket.base_url + "ram.efi"});
  const auto head = fetch({.url = ticket.base_url + "ram.efi", .method = "HEAD"});
  const auto part = fetch({.url = ticket.base_url + "ram.efi", .range = "1000-1100"});

  auto expected = "console=ttyS0 quiet cupel.boot=" + ticket.base_url;
  expected.resize(1024, ' ');
  ASSERT_EQ(served.body.size(), original.size());
  EXPECT_EQ(served.body.substr(1024, 1024), expected);
  EXPECT_EQ(served.body.substr(0, 1024), original.substr(0, 1024));
  EXPECT_EQ(served.body.substr(2048), original.substr(2048));
  EXPECT_EQ(part.body, served.body.substr(1000, 101));
  EXPECT_THAT(head.head, HasSubstr("Content-Length: " + std::to_string(original.size())));
  EXPECT_THAT(head.head, HasSubstr("Content-Type: application/efi"));
  EXPECT_EQ(head.body, "");
}

TEST_F(Booting, AnInstallerGetsArgumentsOfItsOwnAndTextsAsOftenAsItAsks) {
  start();
  auto answered = order();
  answered.ticket_arguments = "auto=true url=http://10.0.0.1/preseed.cfg";
  answered.texts["preseed.cfg"] = "d-i netcfg/get_hostname string n1\n";
  const auto ticket = service->issue(answered).value();

  EXPECT_THAT(fetch({.url = ticket.base_url + "ram.efi"}).body,
              HasSubstr("console=ttyS0 quiet auto=true url=http://10.0.0.1/preseed.cfg  "));
  EXPECT_THAT(fetch({.url = ticket.base_url + "boot.ipxe"}).body,
              HasSubstr("initrd=initrd auto=true url=http://10.0.0.1/preseed.cfg BOOTIF="));
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ(fetch({.url = ticket.base_url + "preseed.cfg"}).body,
              "d-i netcfg/get_hostname string n1\n");
}

TEST_F(Booting, ATextOrArgumentsThatAreNoneAreRefused) {
  start();
  for (const auto* name : {"ram.efi", "boot.ipxe", "../x", ""}) {
    auto bad = order();
    bad.texts[name] = "x";
    EXPECT_FALSE(service->issue(bad)) << name;
  }
  auto bad = order();
  bad.ticket_arguments = "url=x; reboot";
  EXPECT_FALSE(service->issue(bad));
}

TEST_F(Booting, ASignedProgramIsServedUnchanged) {
  put("ram.efi", test::small_program({.cmdline = "quiet", .certificates = 64}));
  start();
  const auto ticket = service->issue(order()).value();

  EXPECT_EQ(fetch({.url = ticket.base_url + "ram.efi"}).body, content_of("ram.efi"));
}

TEST_F(Booting, GivesTheOrderForAHelloOfTheExpectedMachineAlone) {
  start();
  const auto ticket = service->issue(order()).value();

  const auto answer = say(ticket, "hello", hello(first));

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"version":1,"node":"a01-n01","action":"deploy"})");
  const auto event = next(ticket).value();
  EXPECT_EQ(event.kind, Kind::hello);
  EXPECT_EQ(event.body.at("serial"), "S1");
  EXPECT_EQ(fetch({.url = ticket.base_url + "hello"}).status, 405);
}

TEST_F(Booting, NamesAMachineThatIsAnotherNode) {
  start();
  const auto ticket = service->issue(order()).value();

  const auto answer = say(ticket, "hello", hello(second));

  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.body, AllOf(HasSubstr("swapped"), Not(HasSubstr("S1"))));
  const auto event = next(ticket).value();
  EXPECT_EQ(event.body.at("cause"), "swapped");
  EXPECT_THAT(std::string{event.body.at("text").as_string()},
              HasSubstr("a01-n01: the machine that booted is a01-n02"));
  EXPECT_EQ(say(ticket, "progress", R"({"state":"writing"})").status, 403);
  EXPECT_EQ(fetch({.url = ticket.base_url + "seed/user-data"}).status, 403);
}

TEST_F(Booting, ARefusedHelloLearnsNothingThatTheInventoryKnows) {
  start();
  const auto ticket = service->issue(order()).value();

  for (const auto& [cause, body] :
       {std::pair{"wrong-serial", R"({"serial":"EVIL"})"},
        std::pair{"wrong-uuid", R"({"serial":"S1","uuid":"ffffffff-4455-6677-8899-aabbccddeeff"})"},
        std::pair{"wrong-mac", R"({"serial":"S1","macs":["52:54:00:aa:00:09"]})"}}) {
    const auto answer = say(ticket, "hello", body);

    EXPECT_EQ(answer.status, 403) << cause;
    EXPECT_THAT(answer.body, AllOf(HasSubstr(cause), Not(HasSubstr("S1")), Not(HasSubstr("00:01")),
                                   Not(HasSubstr("00112233"))));
  }
}

TEST_F(Booting, AHelloThatIsNoJsonOrTooLargeIsRefused) {
  start();
  const auto ticket = service->issue(order()).value();

  for (const auto* body : {"x", "[]", R"({"macs":"x"})", R"({"macs":["52:54"]})", R"({"serial":1})",
                           "{\"serial\":\"\xff\"}"})
    EXPECT_EQ(say(ticket, "hello", body).status, 400) << body;
  EXPECT_EQ(heard(ticket), "refused malformed");
  EXPECT_NE(say(ticket, "hello", std::string(300 * 1024, ' ')).status, 200);
  EXPECT_EQ(say(ticket, "hello", hello(first)).status, 200);
}

TEST_F(Booting, ServesASeedOnceAfterEachHelloUntilTheImageIsWritten) {
  start();
  const auto ticket = service->issue(order()).value();
  const auto user_data = ticket.base_url + "seed/user-data";

  EXPECT_EQ(fetch({.url = user_data}).status, 403);
  EXPECT_EQ(say(ticket, "hello", hello(first)).status, 200);
  EXPECT_EQ(fetch({.url = user_data}).body, "#cloud-config\n{\"secret\":1}\n");
  EXPECT_EQ(fetch({.url = user_data}).status, 410);
  EXPECT_EQ(say(ticket, "hello", hello(first)).status, 200);
  EXPECT_EQ(fetch({.url = user_data}).status, 200);
  EXPECT_EQ(say(ticket, "done", R"({"entry":"Boot0006"})").status, 204);
  EXPECT_EQ(fetch({.url = user_data}).status, 410);
}

TEST_F(Booting, ServesASeedToTheAddressThatSaidHelloAlone) {
  start();
  const auto ticket = service->issue(order()).value();
  ASSERT_EQ(say(ticket, "hello", hello(first)).status, 200);

  const test::Request stranger{.url = ticket.base_url + "seed/user-data", .from = "127.0.0.9"};
  EXPECT_EQ(fetch(stranger).status, 403);
  EXPECT_EQ(fetch({.url = stranger.url}).status, 200);
}

TEST_F(Booting, TellsTheWholeStoryOfABootInOrder) {
  start();
  const auto ticket = service->issue(order()).value();

  fetch({.url = ticket.base_url + "ram.efi"});
  say(ticket, "hello", hello(first));
  say(ticket, "progress", R"({"state":"writing","bytes":1,"of":2})");
  say(ticket, "progress", R"({"state":"writing","bytes":2,"of":2})");
  say(ticket, "done", R"({"entry":"Boot0006"})");
  say(ticket, "done", R"({"entry":"Boot0006"})");
  EXPECT_EQ(fetch({.url = ticket.home_url, .post = hello(first)}).status, 204);

  EXPECT_EQ(heard(ticket), "fetched ram.efi");
  EXPECT_EQ(heard(ticket), "hello");
  const auto progress = next(ticket).value();
  EXPECT_EQ(progress.kind, Kind::progress);
  EXPECT_EQ(progress.body.at("bytes"), 2);
  EXPECT_EQ(heard(ticket), "done");
  EXPECT_EQ(heard(ticket), "home");
  EXPECT_EQ(next(ticket, 10ms).error().code, Code::kTimeout);
}

TEST_F(Booting, WakesWhoWaitsForAnEvent) {
  start();
  const auto ticket = service->issue(order()).value();
  const auto machine = std::async(std::launch::async, [&] { say(ticket, "hello", hello(first)); });

  EXPECT_EQ(heard(ticket), "hello");
}

TEST_F(Booting, AMachineThatComesBackAfterItsImageWasWrittenIsRefused) {
  start();
  const auto ticket = service->issue(order()).value();
  say(ticket, "hello", hello(first));
  say(ticket, "done", R"({"entry":"Boot0006"})");

  const auto again = say(ticket, "hello", hello(first));

  EXPECT_EQ(again.status, 403);
  EXPECT_THAT(again.body, HasSubstr("keeps the boot override"));
}

TEST_F(Booting, TheHomeUrlWorksOnce) {
  start();
  const auto ticket = service->issue(order()).value();

  EXPECT_EQ(fetch({.url = ticket.home_url, .post = hello(second)}).status, 403);
  EXPECT_EQ(fetch({.url = ticket.home_url, .post = hello(first)}).status, 204);
  EXPECT_EQ(fetch({.url = ticket.home_url, .post = hello(first)}).status, 410);
}

TEST_F(Booting, AReportFromHomeProvesWhichMachineItIs) {
  start();
  const auto keys = R"("ssh_host_keys":["ssh-ed25519 AAAA"])"s;
  const auto form = "pub_key_ed25519=ssh-ed25519%20AAAA&hostname=n1"s;
  const auto ticket = service->issue(order()).value();
  const auto report = [&](const std::string& body, const std::string& from) {
    return fetch({.url = ticket.home_url, .post = body, .from = from}).status;
  };

  for (const auto& report_body : {"{" + keys + "}", "{" + keys + R"(,"serial":"","macs":[]})",
                                  "{" + keys + R"(,"serial":"To be filled by O.E.M."})", form})
    EXPECT_EQ(report(report_body, "127.0.0.9"), 403) << report_body;
  EXPECT_EQ(say(ticket, "hello", hello(first)).status, 200);
  EXPECT_EQ(report(form, "127.0.0.9"), 403) << "another machine than the one that said hello";
  EXPECT_EQ(report("{" + keys + R"(,"serial":"S1"})", "127.0.0.9"), 403) << "no MAC of it";
  EXPECT_EQ(fetch({.url = ticket.home_url, .post = hello(first), .from = "127.0.0.9"}).status, 204);
}

TEST_F(Booting, AFormFromHomeComesFromTheAddressOfTheHelloOrTheInventory) {
  start();
  const auto form = "pub_key_ed25519=ssh-ed25519%20AAAA"s;
  const auto greeted = service->issue(order()).value();
  ASSERT_EQ(say(greeted, "hello", hello(first)).status, 200);
  auto known = order();
  known.address = "127.0.0.9";
  const auto addressed = service->issue(known).value();

  EXPECT_EQ(fetch({.url = greeted.home_url, .post = form}).status, 204);
  EXPECT_EQ(fetch({.url = addressed.home_url, .post = form, .from = "127.0.0.8"}).status, 403);
  EXPECT_EQ(fetch({.url = addressed.home_url, .post = form, .from = "127.0.0.9"}).status, 204);
}

TEST_F(Booting, AnswersAnEmptyABlankAOneByteAndTheLargestBody) {
  start();
  const auto ticket = service->issue(order()).value();
  std::vector<std::string> bodies{"", " ", " \r\n\t", "=", "&", "%", "{", "[", "\"", "0", "\0"s};
  for (const char filling : {' ', '&', 'a', '['}) bodies.emplace_back(kMostBody, filling);

  for (const auto& url : {ticket.home_url, ticket.base_url + "hello", ticket.base_url + "progress",
                          ticket.base_url + "done", ticket.base_url + "failed"})
    for (const auto& body : bodies) {
      const auto status = fetch({.url = url, .post = body, .method = "POST"}).status;
      // From home a form without a key is one that proves nothing.
      EXPECT_THAT(status, AnyOf(400, 403, 413))
          << url << ": " << body.substr(0, 4) << " x " << body.size();
    }

  EXPECT_EQ(fetch({.url = ticket.home_url, .post = hello(first)}).status, 204);
}

TEST_F(Booting, ALateMachineIsToldAndSoIsTheRun) {
  start();
  auto brief = order();
  brief.lifetime = 0s;
  const auto ticket = service->issue(brief).value();

  EXPECT_EQ(heard(ticket), "expired");
  const auto late = say(ticket, "hello", hello(first));
  EXPECT_EQ(late.status, 403);
  EXPECT_THAT(late.body, HasSubstr("\"cause\":\"late\""));
  EXPECT_EQ(heard(ticket), "refused late");
  EXPECT_EQ(fetch({.url = ticket.base_url + "image"}).status, 410);
}

TEST_F(Booting, ATicketThatIsLateIsRefusedByNameInEachOfItsUses) {
  start();
  auto brief = order();
  brief.lifetime = 0s;
  brief.greeted = asio::ip::make_address("127.0.0.1");
  const auto ticket = service->issue(brief).value();
  ASSERT_EQ(heard(ticket), "expired");
  const std::vector<test::Request> uses{
      {.url = ticket.base_url + "boot.ipxe"},
      {.url = ticket.base_url + "ram.efi"},
      {.url = ticket.base_url + "seed/user-data"},
      {.url = ticket.base_url + "hello", .post = hello(first)},
      {.url = ticket.home_url, .post = hello(first)},
      {.url = ticket.home_url, .post = "hostname=n1&pub_key_ed25519=ssh-ed25519+AAAA"}};

  for (const auto& use : uses) {
    const auto answer = fetch(use);

    EXPECT_THAT(answer.status, AnyOf(403, 410)) << use.url;
    EXPECT_THAT(answer.body, HasSubstr(R"("cause":"late")")) << use.url;
    EXPECT_EQ(heard(ticket), "refused late") << use.url;
  }
}

TEST_F(Booting, ANeighbourThatHasTheTicketGetsNoOrderAndReportsNothing) {
  start();
  const auto ticket = service->issue(order()).value();
  ASSERT_EQ(say(ticket, "hello", hello(first)).status, 200);
  ASSERT_EQ(heard(ticket), "hello");
  const auto from_neighbour = [&](const std::string& name, const std::string& body) {
    return fetch({.url = ticket.base_url + name, .post = body, .from = "127.0.0.9"}).status;
  };

  EXPECT_EQ(from_neighbour("hello", hello(second)), 403);
  EXPECT_EQ(heard(ticket), "refused swapped");
  for (const auto* name : {"progress", "done", "failed"}) {
    EXPECT_EQ(from_neighbour(name, R"({"cause":"disk-missing"})"), 403) << name;
    EXPECT_EQ(heard(ticket), "refused no-hello") << name;
  }
  EXPECT_EQ(fetch({.url = ticket.home_url, .post = hello(second), .from = "127.0.0.9"}).status,
            403);
  EXPECT_EQ(heard(ticket), "refused swapped");
  EXPECT_EQ(say(ticket, "done", R"({"entry":"Boot0006"})").status, 204) << "the node goes on";
  EXPECT_EQ(fetch({.url = ticket.home_url, .post = hello(first)}).status, 204);
}

TEST_F(Booting, NamesAMachineOfAnotherArchitecture) {
  start();
  const auto ticket = service->issue(order()).value();
  auto other = first;
  other.arch = "aarch64";

  const auto refused = say(ticket, "hello", hello(other));

  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("the machine is aarch64, the order is for x86_64"));
  EXPECT_EQ(heard(ticket), "refused wrong-arch");
}

TEST_F(Booting, ATicketOfOneAddressAnswersNobodyElse) {
  start();
  auto bound = order();
  bound.peer = asio::ip::make_address("127.0.0.9");
  const auto ticket = service->issue(bound).value();

  EXPECT_EQ(fetch({.url = ticket.base_url + "vmlinuz"}).status, 404);
  EXPECT_EQ(fetch({.url = ticket.base_url + "vmlinuz", .from = "127.0.0.9"}).status, 200);
}

TEST_F(Booting, ARevokedTicketIsUnknown) {
  start();
  const auto ticket = service->issue(order()).value();
  service->revoke(ticket.token);

  EXPECT_EQ(fetch({.url = ticket.base_url + "vmlinuz"}).status, 404);
  EXPECT_EQ(fetch({.url = ticket.home_url, .post = hello(first)}).status, 404);
  EXPECT_EQ(next(ticket).error().code, Code::kNotFound);
}

TEST_F(Booting, TheSameUrlsWorkAfterTheControllerHasRestarted) {
  start();
  const auto ticket = service->issue(order()).value();
  const asio::ip::tcp::endpoint same{asio::ip::make_address("127.0.0.1"), service->port()};
  service.reset();
  start({.endpoint = same});

  ASSERT_TRUE(service->restore(ticket, order(), BootStage::issued));

  EXPECT_EQ(fetch({.url = ticket.base_url + "image", .range = "299990-"}).status, 206);
  EXPECT_EQ(say(ticket, "hello", hello(first)).status, 200);
}

TEST_F(Booting, AMachineThatSaidHelloToAnEarlierControllerGoesOn) {
  start();
  const auto ticket = service->draw();
  auto begun = order();
  begun.greeted = asio::ip::make_address("127.0.0.1");

  ASSERT_TRUE(service->restore(ticket, begun, BootStage::issued));

  EXPECT_EQ(say(ticket, "progress", R"({"state":"writing"})").status, 204);
  const test::Request seed{.url = ticket.base_url + "seed/user-data"};
  EXPECT_EQ(fetch({.url = seed.url, .from = "127.0.0.9"}).status, 403);
  EXPECT_EQ(fetch(seed).status, 200);
  EXPECT_EQ(say(ticket, "done", R"({"entry":"Boot0006"})").status, 204);
  EXPECT_EQ(fetch({.url = ticket.home_url, .post = hello(first)}).status, 204);
}

TEST_F(Booting, ATicketOfAnotherServerIsNotOpened) {
  start();
  auto ticket = service->draw();
  ticket.base_url = "http://10.0.0.1:8080/boot/" + ticket.token + "/";

  const auto refused = service->open(ticket, order());

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
}

TEST_F(Booting, ServesNoFileOutsideOfItsFolder) {
  start();
  std::ofstream{folder.path() / "secret"} << "secret";
  std::filesystem::create_symlink(folder.path() / "secret", images + "/debian-12/link");
  for (const std::string path :
       {"../secret", "debian-12/../../secret", "debian-12/link", "/etc/passwd", "debian-12"}) {
    auto escaping = order();
    escaping.files["initrd"] = path;
    const auto refused = service->issue(escaping);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code, Code::kInvalid) << refused.error().what;
  }
  auto missing = order();
  missing.files["initrd"] = "debian-12/none";
  EXPECT_EQ(service->issue(missing).error().code, Code::kNotFound);
}

TEST_F(Booting, WhoGuessesTokensIsSlowedDownAndTheOthersAreNot) {
  start();
  const auto ticket = service->issue(order()).value();
  const auto guess = service->url() + "/boot/" + std::string(32, '0') + "/image";
  long status = 404;
  for (int i = 0; i < 100 && status == 404; ++i)
    status = fetch({.url = guess, .from = "127.0.0.9"}).status;

  EXPECT_EQ(status, 429);
  EXPECT_EQ(fetch({.url = ticket.base_url + "vmlinuz"}).status, 200);
}

TEST_F(Booting, TheAccessLogHasNodesAndNoTokens) {
  start();
  const auto ticket = service->issue(order()).value();
  // A line is written once the connection is over, which the asker sees first.
  const auto stays = asio::make_work_guard(io);
  const auto deadline = Deadline::in(kPatience);
  const auto logged = [&](std::size_t lines) {
    while (log.size() < lines && !deadline.passed()) io.run_one_for(deadline.left());
    ASSERT_EQ(log.size(), lines);
  };
  fetch({.url = ticket.base_url + "vmlinuz"});
  logged(1);
  fetch({.url = service->url() + "/boot/" + std::string(32, '0') + "/image"});
  logged(2);

  EXPECT_EQ(log[0].node, "a01-n01");
  EXPECT_EQ(log[0].file, "vmlinuz");
  EXPECT_EQ(log[0].bytes, 6u);
  EXPECT_TRUE(log[0].whole);
  EXPECT_EQ(log[1].node, "");
  EXPECT_EQ(log[1].file, "");
  EXPECT_EQ(log[1].status, 404);
}

TEST_F(Booting, OverTlsTheSame) {
  const auto certificate = test::make_certificate();
  start({.certificate = certificate.certificate_pem, .key = certificate.key_pem});
  const std::string ca = folder.path() / "ca.pem";
  std::ofstream{ca} << certificate.certificate_pem;
  const auto ticket = service->issue(order()).value();

  EXPECT_EQ(fetch({.url = ticket.base_url + "image", .ca = ca}).body, content_of("disk.raw.zst"));
  EXPECT_EQ(fetch({.url = ticket.base_url + "ram.efi", .ca = ca}).body.size(),
            content_of("ram.efi").size());
  EXPECT_EQ(fetch({.url = ticket.base_url + "hello", .post = hello(first), .ca = ca}).status, 200);
  EXPECT_EQ(fetch({.url = ticket.base_url + "image"}).status, 0);
}

TEST_F(Booting, AMachineThatRejectsTheCertificateIsNamedInTheLog) {
  const auto certificate = test::make_certificate();
  start({.certificate = certificate.certificate_pem,
         .key = certificate.key_pem,
         .neighbour = [](const asio::ip::address&) { return "52:54:00:aa:00:02"; }});
  const auto ticket = service->issue(order()).value();

  EXPECT_EQ(fetch({.url = ticket.base_url + "ram.efi"}).status, 0) << "its CA is not known";
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (log.empty() && std::chrono::steady_clock::now() < until) io.restart(), io.run_for(10ms);

  ASSERT_FALSE(log.empty());
  EXPECT_EQ(log[0].node, "a01-n02");
  EXPECT_THAT(log[0].note, AllOf(HasSubstr("it rejects the certificate of boot: tls ("),
                                 HasSubstr("alert unknown ca"), HasSubstr("look at its clock")));
}

TEST_F(Booting, AnUplinkIsNotExceededAndSharedFairly) {
  constexpr std::size_t kSize = 3'000'000;
  put("disk.raw.zst", std::string(kSize, 'x'));
  start({.uplink = 10'000'000});
  const auto ticket = service->issue(order()).value();
  struct Machine {
    std::chrono::steady_clock::time_point began{}, served{}, ended{};
  };
  using MachineTimes = std::vector<Machine>;
  const auto all_fetch = [&] {
    MachineTimes all(4);
    std::vector<std::future<void>> machines;
    for (auto& one : all)
      machines.push_back(std::async(std::launch::async, [&] {
        one.began = std::chrono::steady_clock::now();
        const auto fetched = fetch({.url = ticket.base_url + "image"});
        one.ended = std::chrono::steady_clock::now();
        one.served = one.began + fetched.first_byte;
        EXPECT_EQ(fetched.body.size(), kSize);
      }));
    machines.clear();
    return all;
  };
  // Together, but on a machine that has no time for them.
  const auto together = [](const MachineTimes& all) {
    const auto [first, last] = std::ranges::minmax(all, {}, &Machine::served);
    return last.served - first.served < 100ms;
  };

  auto all = all_fetch();
  while (!together(all)) all = all_fetch();

  // 12 MB at 10 MB/s, less the burst; nobody is through much before the others.
  const auto begun = std::ranges::min(all, {}, &Machine::began).began;
  EXPECT_GT(std::ranges::max(all, {}, &Machine::ended).ended - begun, 1000ms);
  EXPECT_GT(std::ranges::min(all, {}, &Machine::ended).ended - begun, 700ms);
}

TEST_F(Booting, IpxeGetsAScriptThatBootsTheTicketsKernel) {
  start();
  auto with_arguments = order();
  with_arguments.kernel_arguments = "console=ttyS0,115200";
  const auto ticket = service->issue(with_arguments).value();

  const auto script = fetch({.url = ticket.base_url + "boot.ipxe"}).body;

  EXPECT_THAT(script, HasSubstr("kernel " + ticket.base_url +
                                "vmlinuz initrd=initrd console=ttyS0,115200 cupel.boot=" +
                                ticket.base_url));
  with_arguments.kernel_arguments = "quiet || shell";
  EXPECT_EQ(service->issue(with_arguments).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace cupel::netboot
