"""What the page promises, tried in a real browser. Each case is a function; run.py runs them in this order."""

import base64
import json
import time
import urllib.error
import urllib.parse

from plane import Line, Page, Sandbox, eventually
from webdriver import ENTER, ESCAPE, TAB, Browser

VIEWS = {
    "not-fine": "#/", "clusters": "#/clusters", "policies": "#/policies", "search": "#/search?image=catalogue",
    "what-if": "#/what-if?drain=member2", "hour": "#/hour", "object": "#/object/Deployment.v1.apps/shop/web",
    "policy": "#/object/PropagationPolicy.v1alpha1.policy.karmada.io/shop/typo",
    "cluster": "#/object/Cluster.v1alpha1.cluster.karmada.io/-/member1", "explain": "#/explain?text=SyncFailed",
    "search-form": "#/search", "what-if-form": "#/what-if",
}


def everything(world):
    """The address of each view, and of the page about each thing that is wrong."""
    return {**VIEWS, **{row.name: row.address for row in world.rows()}}


READY = """
const heading = document.querySelector("main h1");
return heading && decodeURIComponent(location.hash) === decodeURIComponent(arguments[0]) && document.body.dataset.shown === location.hash
  ? heading.textContent : "";
"""


def show(browser, page, address):
    """Opens an address of the page and waits for what it names; returns the heading."""
    if browser.address().startswith(page.address):
        browser.run("location.hash = arguments[0]", address)
    else:
        browser.go(page.address + address)
    return browser.wait(f"the view {address}", READY, address)


def show_all(browser, page, address):
    """As show, with everything opened that is folded."""
    heading = show(browser, page, address)
    browser.run("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
    return heading


def failure(browser):
    """What the page says in place of a view that could not be read; "" when there is a view."""
    return browser.run("""const again = [...document.querySelectorAll("main > p > button")].find((one) => one.textContent === "Try again");
        return again ? document.querySelector("main > p.bad").textContent : "";""")


def complaints(browser):
    """The browser's complaints, but for answers with an error, which are expected where they come."""
    return [text for text in browser.complaints() if "Failed to load resource" not in text]


PICTURES = {"serve-not-fine": ("#/", 960, 640, "light"), "serve-object": ("#/object/Deployment.v1.apps/shop/web", 960, 720, "light"),
            "serve-clusters": ("#/clusters", 1100, 480, "dark"), "serve-phone": ("#/", 360, 740, "dark")}
MOST_BYTES = 150_000


def test_pictures_for_the_documents(world):
    """Before the other situations are there."""
    with Browser() as browser:
        for name, (address, width, height, scheme) in PICTURES.items():
            browser.resize(width, height)
            browser.prefer(scheme)
            show(browser, world.page, address)
            eventually("the page is live", lambda: "Live" in browser.text("#state"))
            picture = browser.picture()
            assert len(picture) < MOST_BYTES, (name, len(picture))
            (world.pictures / f"{name}.png").write_bytes(picture)


def test_broken_situations_and_what_is_said_first(world):
    """The page says about each what karmada-lens why is to say, and what to do."""
    rows = world.rows()
    assert len(rows) >= 80, len(rows)
    with Browser() as browser:
        for row in rows:
            heading = show(browser, world.page, row.address)
            assert row.says(heading), (row.name, row.headline, heading)
            answer = world.page.ask(f"object?{row.query}")
            assert browser.text("main h1") == answer["headline"], row.name
            assert browser.text("main .advice") == (f"What to do: {answer['advice']}" if answer["advice"] else ""), row.name
        show(browser, world.page, "#/")
        eventually("most of them are not fine", lambda: world.page.ask("fleet")["notFine"] >= 40)
        assert not complaints(browser)


def test_each_view_has_a_headline_and_no_complaint(world):
    with Browser() as browser:
        for name, address in VIEWS.items():
            heading = show(browser, world.page, address)
            assert heading.strip(), name
            assert browser.run("return document.querySelectorAll('main h1').length") == 1, name
            assert not browser.text("#alert") and not failure(browser), (name, browser.text("#alert"), failure(browser))
            assert heading in browser.run("return document.title"), name
        assert not complaints(browser)


def test_the_headlines_say_what_is_wrong(world):
    with Browser() as browser:
        assert "not fine" in show(browser, world.page, VIEWS["not-fine"])
        assert "cannot be made" in show(browser, world.page, VIEWS["object"])
        assert browser.text("main .advice").startswith("What to do: "), browser.text("main .advice")
        assert "lonly" in show(browser, world.page, VIEWS["policy"])
        assert "3 of 3" in show(browser, world.page, VIEWS["clusters"])
        assert "affected" in show(browser, world.page, VIEWS["what-if"])


MOST_PAGES = 4000


def test_each_link_leads_somewhere(world):
    script = "return [...document.querySelectorAll('a[href]')].map((one) => one.getAttribute('href'))"
    with Browser() as browser:
        queue = list(everything(world).values())
        seen = set(queue)
        for address in queue:
            assert show(browser, world.page, address), address
            assert not browser.text("#alert") and not failure(browser), (address, browser.text("#alert"), failure(browser))
            for link in browser.run(script):
                assert link.startswith("#"), f"{address} links to {link}"
                if link.startswith("#/") and link not in seen:
                    seen.add(link)
                    queue.append(link)
            assert len(queue) <= MOST_PAGES, f"the links do not end: {queue[-20:]}"
        assert not complaints(browser)


def is_created(server, manifest):
    """Whether the object could be created now: an API that has just been registered may not be there yet."""
    try:
        server.create(manifest)
        return True
    except KeyError:
        return False
    except urllib.error.HTTPError as error:
        return error.code == 409  # It was, and the answer was lost.


CLUSTER = "#/object/Cluster.v1alpha1.cluster.karmada.io/-/"


def boxes(browser):
    """The picture of a template's way: what each box says, its state, and where it leads."""
    return browser.run("""return [...document.querySelectorAll(".journey > a, .journey > g")].map((one) => [one.getAttribute("aria-label"),
        one.closest("[class^=is-]")?.getAttribute("class") ?? one.querySelector("[class^=is-]").getAttribute("class"), one.getAttribute("href") ?? ""])""")


def table(browser, caption):
    """What the rows of a table say, by column."""
    return browser.run("""const found = [...document.querySelectorAll("main table")].find((one) => one.caption.textContent === arguments[0]);
        const names = [...(found?.tHead.rows[0].cells ?? [])].map((one) => one.textContent);
        return [...(found?.tBodies[0].rows ?? [])].map((row) => Object.fromEntries([...row.cells].map((one, i) => [names[i], one.innerText.trim()])))""", caption)


PLACES = "Wanted and there, cluster by cluster"


def test_the_way_of_a_template_as_a_picture_and_a_table(world):
    with Browser() as browser:
        show(browser, world.page, VIEWS["object"])
        policy, template, binding, first, second = boxes(browser)
        assert policy == ["web, PropagationPolicy", "is-good", "#/object/PropagationPolicy.v1alpha1.policy.karmada.io/shop/web"], policy
        assert template == ["web, Deployment", "is-good", ""], template
        assert binding == ["web-deployment, 2 clusters", "is-good", "#/object/ResourceBinding.v1alpha2.work.karmada.io/shop/web-deployment"], binding
        # The daemon may have heard of the override only when member1 had it.
        assert first[0] in ("member1, no Work, 0 of 4 ready", "member1, no manifest, 4 of 4 ready") and first[1:] == ["is-bad", CLUSTER + "member1"], first
        assert second == ["member2, applied, 4 of 4 ready", "is-good", CLUSTER + "member2"], second
        assert browser.run("return [...document.querySelectorAll('.journey path')].map((one) => one.getAttribute('class') ?? '')") == ["", "", "is-bad", ""]
        bad, good = table(browser, PLACES)
        assert f"{bad['Cluster']}, {bad['State']}, {bad['Replicas']}" == first[0], bad
        assert "OverridePolicy shop/paths" in bad["Overrides"] and "the path does not exist" in bad["Overrides"], bad
        assert good == {"Cluster": "member2", "State": "applied", "Replicas": "4 of 4 ready", "Member": "has it",
                        "Overrides": "OverridePolicy shop/paths spec.overrideRules[1].overriders"}, good
        browser.run("document.querySelector('main table a[href*=OverridePolicy]').click()")
        override = "#/object/OverridePolicy.v1alpha1.policy.karmada.io/shop/paths"
        assert "OverridePolicy shop/paths" in browser.wait("the override policy", READY, override)

        show(browser, world.page, "#/object/Deployment.v1.apps/shop/hungry")
        browser.wait_for_text("main .journey", "not healthy, 0 of 4 ready")
        assert boxes(browser)[-1] == ["member3, not healthy, 0 of 4 ready", "is-bad", CLUSTER + "member3"]
        assert "0 of 4 replicas are available" in table(browser, PLACES)[0]["Member"], table(browser, PLACES)

        show(browser, world.page, "#/object/Deployment.v1.apps/shop/lonely")
        assert boxes(browser) == [["no policy, nothing selects it", "is-bad", ""], ["lonely, Deployment", "is-good", ""],
                                  ["no binding, nothing is scheduled", "is-bad", ""]], boxes(browser)
        show(browser, world.page, "#/object/Deployment.v1.apps/shop/picky")
        assert boxes(browser)[2][:2] == ["picky-deployment, no cluster chosen", "is-bad"], boxes(browser)
        show(browser, world.page, "#/object/Deployment.v1.apps/shop/picky?cluster=member1")
        assert boxes(browser)[2][:2] == ["picky-deployment, not in member1", "is-bad"], boxes(browser)
        show(browser, world.page, VIEWS["object"] + "?cluster=member2")
        assert [one[0] for one in boxes(browser)[2:]] == ["web-deployment, member2 alone is shown", "member2, applied, 4 of 4 ready"], boxes(browser)
        show(browser, world.page, "#/object/Deployment.v1.apps/fine/ranked")
        selecting = table(browser, "The first one goes before the others")
        assert selecting == [{"Policy": "PropagationPolicy fine/first", "Priority": "7", "Governs": "governs it"},
                             {"Policy": "PropagationPolicy fine/second", "Priority": "2", "Governs": ""}], selecting


def test_long_names_stay_in_the_boxes_of_the_picture(world):
    wide, narrow = "m" * 60, "i" * 26
    for name in (wide, narrow):
        world.sandbox.create_all(f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: fine}}
spec: {world.spec}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {{name: {name}, namespace: fine}}
spec:
  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment, name: {name}}}]
  placement: {{clusterAffinity: {{clusterNames: [member1]}}}}
""")
    texts = """return [...document.querySelectorAll(".journey g")].map((one) => {
        const box = one.querySelector("rect").getBBox();
        return [one.querySelector("title").textContent, [...one.querySelectorAll("text")].map((text) => text.textContent),
            Math.max(...[...one.querySelectorAll("text")].map((text) => text.getBBox().x + text.getBBox().width)) - box.x - box.width];
    })"""
    with Browser() as browser:
        show(browser, world.page, f"#/object/Deployment.v1.apps/fine/{wide}")
        browser.wait_for_text("main .journey", "ready")
        for title, words, beyond in browser.run(texts):
            assert beyond <= 0, (title, words, beyond)
        policy, template, binding = browser.run(texts)[:3]
        assert wide in policy[0] and wide in template[0] and f"{wide}-deployment" in binding[0], "the whole name is there"
        assert all(one[1][0].startswith("mmm") and one[1][0].endswith("m…") for one in (policy, template, binding)), (policy, template, binding)
        show(browser, world.page, f"#/object/Deployment.v1.apps/fine/{narrow}")
        browser.wait_for_text("main .journey", "ready")
        assert browser.run(texts)[1][1][0] == narrow, "what fits is not cut"


def test_one_cluster_is_asked_about_by_the_form_on_the_page(world):
    with Browser() as browser:
        show(browser, world.page, "#/object/Deployment.v1.apps/fine/ranked")
        browser.press("/")
        assert browser.run("return document.activeElement.name") == "cluster"
        browser.write("member1")
        browser.press(ENTER)
        heading = browser.wait("the answer about one cluster", READY, "#/object/Deployment.v1.apps/fine/ranked?cluster=member1")
        assert "member1 is not chosen for Deployment fine/ranked" in heading, heading
        assert "member1 does not have it" in browser.text("main")


def test_an_override_that_fails_later_is_seen_in_the_picture(world):
    world.sandbox.create_all(f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: later, namespace: fine}}
spec: {world.spec}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {{name: later, namespace: fine}}
spec:
  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment, name: later}}]
  placement: {{clusterAffinity: {{clusterNames: [member1]}}}}
""")
    with Browser() as browser:
        show(browser, world.page, "#/object/Deployment.v1.apps/fine/later")
        browser.wait_for_text("main .journey", "applied, 4 of 4 ready")
        world.sandbox.create_all("""
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: later, namespace: fine}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: later}]
  overrideRules: [{overriders: {plaintext: [{path: /spec/nothing, operator: replace, value: 1}]}}]
""")
        browser.wait_for_text("main h1", "cannot be made")
        # What is said first and the picture are of one answer.
        assert boxes(browser)[-1] == ["member1, no manifest, 4 of 4 ready", "is-bad", CLUSTER + "member1"], boxes(browser)


def test_a_difference_to_the_member_is_shown_and_goes(world):
    path = "/apis/apps/v1/namespaces/fine/deployments/catalogue"
    member = world.sandbox.member("member2")

    def is_written():
        try:
            deployment = member.call("GET", path)
            deployment["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.example/catalogue:other"
            return member.call("PUT", path, deployment)
        except urllib.error.HTTPError as error:
            assert error.code == 409, error.read()  # Its status has been written meanwhile.
            return None

    with Browser() as browser:
        show(browser, world.page, "#/object/Deployment.v1.apps/fine/catalogue")
        browser.wait("it has arrived", "return document.querySelectorAll('.journey .is-good').length === 5")
        world.sandbox.steer("manager", "down")  # It would put it right at once.
        try:
            eventually("the member's object is changed", is_written)
            browser.wait_for_text("main .journey", "differs")
            label, state, _ = boxes(browser)[-1]
            assert label.startswith("member2, differs, ") and state == "is-warn", label
            row = table(browser, PLACES)[1]
            assert row["State"] == "differs" and "differs in spec.template.spec.containers" in row["Member"], row
            assert table(browser, PLACES)[0]["State"] == "applied"
        finally:
            world.sandbox.steer("manager", "up")
        browser.wait("the daemon has put it right", "return document.querySelectorAll('.journey .is-good').length === 5")


def test_events_are_in_the_order_of_time(world):
    def event(number, seconds_ago):
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - seconds_ago))
        world.sandbox.create({"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"ordered-{number}", "namespace": "shop"},
                              "involvedObject": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "lonely"},
                              "reason": f"Ordered{number}", "message": "one of three", "type": "Normal", "source": {"component": "somebody"},
                              "firstTimestamp": when, "lastTimestamp": when, "count": number})

    def order(browser, caption):
        return [row["What"].split()[1] for row in table(browser, caption) if " Ordered" in row["What"]]

    # Neither their names nor when they were written says the order.
    event(3, 30)
    event(1, 90)
    event(2, 60)
    with Browser() as browser:
        show(browser, world.page, "#/object/Deployment.v1.apps/shop/lonely")
        browser.wait_for_text("main", "Ordered2")
        assert order(browser, "The latest last") == ["Ordered1", "Ordered2", "Ordered3"]
        last = next(row for row in table(browser, "The latest last") if "Ordered3" in row["What"])
        assert last["What"] == "normal Ordered3 one of three (3 times)" and last["By"] == "somebody", last
        assert last["About"] == "Deployment shop/lonely" and last["When"].endswith(" ago"), last
        show(browser, world.page, "#/hour")
        browser.wait_for_text("main", "Ordered2")
        assert order(browser, "The latest first") == ["Ordered3", "Ordered2", "Ordered1"]


POLICIES = "Policies: those that govern nothing first, then by namespace and priority"


def test_policies_near_misses_dead_selectors_and_priorities(world):
    with Browser() as browser:
        show(browser, world.page, "#/policies?namespace=shop")
        near = browser.run("""return [...document.querySelectorAll("main section.group")].map((one) => one.innerText)""")
        typo = next(text for text in near if text.startswith("PropagationPolicy shop/typo"))
        assert "it selects only the name lonly; there is Deployment shop/lonely." in typo, typo
        assert "What to do: Add a selector with name: lonely to it." in typo, typo
        rows = {row["Policy"]: row for row in table(browser, POLICIES)}
        typo = rows["PropagationPolicy shop/typo"]
        assert typo["Governs"] == "governs nothing" and typo["Selectors"] == "apps/v1 Deployment shop/lonly selects nothing", typo
        web = rows["PropagationPolicy shop/web"]
        assert web["Governs"] == "1 template, 1 not fine" and web["Selectors"] == "apps/v1 Deployment shop/web", web
        # It waits for an override policy, and has claimed nothing; what it selects is there.
        waits = rows["PropagationPolicy shop/waits"]
        assert waits["Governs"] == "governs nothing" and waits["Selectors"] == "apps/v1 Deployment shop/waits", waits

        show(browser, world.page, "#/policies?namespace=fine")
        assert browser.text("main h1").endswith("nothing.")
        rows = {row["Policy"]: row for row in table(browser, POLICIES)}
        assert rows["PropagationPolicy fine/catalogue"]["Selectors"].split("\n") == [
            "apps/v1 Deployment fine/catalogue", "v1 ConfigMap fine/settings selects nothing"], rows
        first, second = rows["PropagationPolicy fine/first"], rows["PropagationPolicy fine/second"]
        assert (first["Priority"], first["Governs"], first["Selectors"]) == (
            "7", "1 template", "apps/v1 Deployment fine/ranked also in PropagationPolicy fine/second"), first
        assert (second["Priority"], second["Governs"], second["Selectors"]) == (
            "2", "governs nothing", "apps/v1 Deployment fine/ranked governed by PropagationPolicy fine/first also in PropagationPolicy fine/first"), second
        order = list(rows)
        assert order.index("PropagationPolicy fine/second") < order.index("PropagationPolicy fine/first"), "what governs nothing is first"
        # A template that is claimed and has no binding is governed.
        roles = rows["ClusterPropagationPolicy roles"]
        assert roles["Governs"].startswith("1 template") and "selects nothing" not in roles["Selectors"], roles


def test_what_if_by_its_form(world):
    fates = """return Object.fromEntries([...document.querySelectorAll("main section.group")].map((one) =>
        [one.querySelector("h2 a").textContent, [one.querySelector("h2 .mark").textContent, one.innerText]]))"""
    # Nothing is evicted without these.
    page = Page(world.sandbox.kubeconfig, "--feature-gates=Failover=true", "--enable-no-execute-taint-eviction=true")
    try:
        with Browser() as browser:
            show(browser, page, "#/what-if")
            browser.press("/")
            assert browser.run("return document.activeElement.id") == "cluster-1"
            browser.press(ENTER)
            assert browser.run("return document.querySelector('main form').matches(':invalid')"), "a cluster is to be named"
            browser.write("member2")
            browser.press(ENTER)
            heading = browser.wait("the answer", READY, "#/what-if?drain=member2")
            assert "affected" in heading, heading
            found = browser.run(fates)
            assert found["Deployment fine/ranked"][0] == "no other cluster", found
            assert "leaves member2 at once (evicted gracefully): both copies are wanted" in found["Deployment fine/ranked"][1], found
            assert found["Deployment fine/catalogue"][0] == "shrinks", found
            assert "member2: goes" in found["Deployment fine/catalogue"][1], found
            assert "karmada-lens plan --drain member2 " in browser.text("main .command pre")
            # What was asked stands in the form, and another change can be added to it.
            assert browser.run("return [document.getElementById('cluster-1').value, document.getElementById('change-1').value]") == ["member2", "drain"]
            browser.run("[...document.querySelectorAll('main form button')].find((one) => one.textContent === 'And another change').click()")
            assert browser.run("return document.activeElement.id") == "cluster-2"
            browser.write("member1")
            browser.press(TAB)
            browser.write("leaves")
            assert browser.run("return document.getElementById('change-2').value") == "without"
            browser.run("document.getElementById('cluster-2').focus()")
            browser.press(ENTER)
            browser.wait("the answer to both", READY, "#/what-if?drain=member2&without=member1")
            assert "member1" in browser.text("main strong") and "member2 gets the taint drain:NoExecute" in browser.text("main strong")
            found = browser.run(fates)
            assert found["Deployment fine/catalogue"][0] in ("no other cluster", "in no cluster then"), found
            assert "--without member1 --drain member2" in browser.text("main .command pre")
            # One whose cluster is emptied does not count.
            assert browser.run("return document.querySelectorAll('main fieldset').length") == 2
            browser.run("document.getElementById('cluster-1').value = ''; document.getElementById('cluster-2').focus()")
            browser.press(ENTER)
            browser.wait("the answer to one", READY, "#/what-if?without=member1")
            assert not complaints(browser)
    finally:
        page.stop()


FOUND = "By namespace, name and cluster"


def test_search_by_its_form(world):
    def search(browser, **fields):
        """Types into the fields, and returns what is found."""
        show(browser, world.page, "#/search")
        for name, value in fields.items():
            browser.run("document.getElementById(arguments[0]).focus()", f"field-{name}")
            browser.write(value)
        browser.press(ENTER)
        browser.wait("the answer", "return location.hash.includes('?') && document.body.dataset.shown === location.hash")
        rows = table(browser, FOUND)
        assert browser.text("main h1") == f"{len(rows)} found.", (fields, browser.text("main h1"))
        return rows

    with Browser() as browser:
        pods = search(browser, namespace="fine", name="CATALOGUE")
        assert len(pods) == 8 and {row["Cluster"] for row in pods} == {"member1", "member2"}, pods
        assert "3 clusters were asked" in browser.text("main")
        for row in pods:
            assert row["Object"].startswith("Pod fine/catalogue-") and row["State"] == "Running", row
            assert row["Images"] == "registry.example/catalogue:1.25" and row["Node"].startswith(row["Cluster"] + "-node"), row
            assert row["Owner"].startswith("ReplicaSet/catalogue-"), row
        named = {row["Object"] for row in pods}
        assert {row["Object"] for row in search(browser, owner="replicaset/catalogue")} == named
        by_image = search(browser, image="catalogue:1.26")
        assert by_image and {row["Images"] for row in by_image} == {"registry.example/catalogue:1.26"}, "the override has been applied to these"
        assert all(row["Object"].startswith("Pod shop/web-") and row["Cluster"] == "member2" for row in by_image), by_image
        node = pods[0]["Node"]
        on_node = search(browser, node=node, namespace="fine", name="catalogue")
        assert {row["Object"] for row in on_node} == {row["Object"] for row in pods if row["Node"] == node}
        labelled = search(browser, labels="app=hungry")
        assert len(labelled) == 4 and all(row["Object"].startswith("Pod shop/hungry-") and row["Cluster"] == "member3" for row in labelled), labelled
        assert search(browser, labels="app=hungry", cluster="member1") == []
        assert "No object that could be read has all of this" in browser.text("main")
        # A template in a member leads to its way; what somebody else has made has none.
        deployments = search(browser, type="deployment", name="catalogue")
        assert [(row["Object"], row["Cluster"], row["State"], row["Template"]) for row in deployments] == [
            ("Deployment fine/catalogue", cluster, "4/4 ready", "its way") for cluster in ("member1", "member2")], deployments
        browser.run("[...document.querySelectorAll('main td a')].find((one) => one.textContent === 'its way').click()")
        assert "fine/catalogue" in browser.wait("its way", READY, "#/object/Deployment.v1.apps/fine/catalogue")


def test_search_in_the_cache_of_karmada_search(world):
    sandbox = Sandbox(world.folder / "searched", "--search", members=2)
    page = None
    try:
        for number in (1, 2):
            sandbox.member(f"member{number}").create_in("default", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                                                                    "spec": {**json.loads(world.spec), "replicas": number}})
        eventually("karmada-search answers", lambda: is_created(sandbox, {
            "apiVersion": "search.karmada.io/v1alpha1", "kind": "ResourceRegistry", "metadata": {"name": "pods"},
            "spec": {"targetCluster": {"clusterNames": ["member1"]}, "resourceSelectors": [{"apiVersion": "v1", "kind": "Pod"}]}}))
        page = Page(sandbox.kubeconfig)
        eventually("the cache has the pod", lambda: page.ask("search?image=catalogue")["via"] == "karmada-search")
        with Browser() as browser:
            show(browser, page, "#/search?image=catalogue")
            assert [row["Cluster"] for row in table(browser, FOUND)] == ["member1"]
            assert "From the cache of karmada-search" in browser.text("main")
            # What the registry does not name is looked for in the members: a cluster, and a kind.
            show(browser, page, "#/search?image=catalogue&cluster=member2")
            assert [row["Cluster"] for row in table(browser, FOUND)] == ["member2", "member2"]
            assert "1 cluster was asked" in browser.text("main")
            show(browser, page, "#/search?type=deployment&name=web")
            assert [row["Cluster"] for row in table(browser, FOUND)] == ["member1", "member2"]
            assert "2 clusters were asked" in browser.text("main")
            assert not complaints(browser)
    finally:
        if page:
            page.stop()
        sandbox.stop()


def test_text_of_objects_never_becomes_markup(world):
    hostile = ["#/object/Deployment.v1.apps/shop/" + urllib.parse.quote("<img src=x onerror=window.hacked='route'>", safe=""),
               "#/search?image=" + urllib.parse.quote("<script>window.hacked='query'</script>"),
               "#/" + urllib.parse.quote("<svg onload=window.hacked='view'>"), "#/%E0%A4%A",
               "#/object/ClusterRole.v1.rbac.authorization.k8s.io/-/" + urllib.parse.quote("<svg onload=window.hacked='name'>;'$(id)", safe="")]
    with Browser() as browser:
        for address in [*VIEWS.values(), *hostile]:
            browser.go("about:blank")
            browser.go(world.page.address + address)
            browser.wait(f"an answer to {address}", "return document.body.dataset.shown")
            found = browser.run("""return {hacked: window.hacked ?? "", elements: [...document.querySelectorAll(
                "main script, main img:not(.graph-picture), main [onerror], main [onload], main [onclick], main iframe, main b, main i")].length,
                links: [...document.querySelectorAll("a")].filter((one) => one.protocol === "javascript:").length}""")
            assert found == {"hacked": "", "elements": 0, "links": 0}, (address, found)
        show(browser, world.page, "#/search?image=img")
        assert "<img src=x onerror" in browser.text("main"), "the image is there as text"
        assert "\\u202e" in browser.text("main"), "what turns writing round is shown"
        # Of the last hour the latest events are shown, so it is to be one of them.
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        world.sandbox.create({"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"hostile.{time.time_ns()}", "namespace": "shop"},
                              "involvedObject": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}, "type": "Warning",
                              "reason": "<script>window.hacked='late'</script>", "message": "</td><script>window.hacked='late message'</script>",
                              "source": {"component": "<i>somebody</i>"}, "firstTimestamp": now, "lastTimestamp": now})
        show(browser, world.page, "#/hour")
        browser.wait_for_text("main", "</td><script>window.hacked='late message'")
        assert browser.run("return window.hacked ?? ''") == ""
        refused = browser.run("try { document.querySelector('main').innerHTML = '<b>x</b>'; return ''; } catch (error) { return error.name; }")
        assert refused == "TypeError", "the page's policy refuses markup from strings"
        show(browser, world.page, hostile[-1])
        command = browser.run("return [...document.querySelectorAll('.command pre')].map((one) => one.textContent)")
        assert any(r"'<svg onload=window.hacked='\''name'\''>;'\''$(id)'" in one for one in command), command


def test_it_follows_what_changes_and_keeps_the_focus(world):
    with Browser() as browser:
        show(browser, world.page, "#/")
        before = browser.text("main h1")
        # The second link to a cluster has the text and the address of the first one.
        browser.run("""document.getElementById("field-policy").value = "typed";
            const all = [...document.querySelectorAll("main table a")];
            all.find((one, i) => all.findIndex((other) => other.getAttribute("href") === one.getAttribute("href")) < i).focus()""")
        focus = """const all = [...document.querySelectorAll("main table a")];
            const href = document.activeElement.getAttribute("href");
            return `${href} ${all.filter((one) => one.getAttribute("href") === href).indexOf(document.activeElement)}`"""
        held = browser.run(focus)
        assert held.endswith(" 1"), held
        world.sandbox.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": f"late-{int(time.time())}", "namespace": "shop"},
                              "spec": json.loads(world.spec)})
        browser.wait("another headline", "return document.querySelector('main h1').textContent !== arguments[0]", before)
        assert browser.run(focus) == held
        assert browser.run("return document.getElementById('field-policy').value") == "typed"
        browser.wait("the news for ears", "return document.getElementById('news').textContent !== ''")


def test_the_focus_and_the_place_stay_when_the_words_change(world):
    with Browser(width=360, height=740) as browser:
        # The page asks through this: the case changes what it is answered.
        browser.run_first("""const asked = window.fetch;
            window.fetch = async (address, ...more) => {
                const answer = await asked(address, ...more);
                if (!window.change || String(address).includes("/watch") || !String(address).includes(window.change.path)) return answer;
                const body = await answer.json();
                window.change.of(body);
                return new Response(JSON.stringify(body), {status: answer.status, headers: answer.headers});
            };""")
        # A row goes down by what is new above it, and takes the focus and what is seen with it.
        show(browser, world.page, "#/hour")
        held = browser.run("""window.change = {path: "api/hour", of: (body) => body.entries.unshift(
                {...body.entries[0], message: "new above", about: {...body.entries[0].about, name: "new-above"}})};
            const row = [...document.querySelectorAll("main tbody tr")].filter((one) => one.querySelector("th a")).at(5);
            row.querySelector("a").focus();
            row.scrollIntoView();
            window.wordsOf = (one) => `${one.cells[0].textContent} ${one.cells[2].textContent}`;
            return [window.wordsOf(row), row.getBoundingClientRect().top]""")
        browser.press("r")
        browser.wait("the new row", "return document.querySelector('main').textContent.includes('new above')")
        now = browser.run("""const row = document.activeElement.closest("tr");
            return row && [window.wordsOf(row), row.getBoundingClientRect().top]""")
        assert now and now[0] == held[0] and abs(now[1] - held[1]) < 2, (held, now)
        # A link whose words change, and a picture that somebody has moved.
        show(browser, world.page, VIEWS["object"])
        moved = browser.run("""window.change = {path: "api/object", of: (body) => { body.headline = "It is another one."; }};
            const picture = document.querySelector("main .scroll[tabindex]");
            picture.scrollLeft = 50;
            picture.focus();
            return picture.scrollLeft""")
        assert moved == 50, moved
        browser.press("r")
        browser.wait_for_text("main h1", "another one")
        assert browser.run("""return [document.activeElement.getAttribute("aria-label"),
            document.querySelector("main .scroll[tabindex]").scrollLeft]""") == ["The picture", 50]
        show(browser, world.page, "#/policies")
        link = browser.run("""window.change = {path: "api/policies", of: (body) => body.policies.forEach((one) => { one.notFine += 7; })};
            const link = [...document.querySelectorAll("main td a")].find((one) => one.textContent.includes("not fine"));
            link.focus();
            return [link.getAttribute("href"), link.textContent]""")
        browser.press("r")
        browser.wait("other words", "return document.querySelector('main').textContent.includes(' not fine') && "
                     "![...document.querySelectorAll('main td a')].some((one) => one.textContent === arguments[0] && "
                     "one.getAttribute('href') === arguments[1])", link[1], link[0])
        assert browser.run("return document.activeElement.getAttribute('href')") == link[0]


def test_a_late_answer_takes_the_focus_from_nobody(world):
    line = Line(world.page.port)
    line.delays["/api/clusters"] = 3
    try:
        with Browser() as browser:
            browser.go(line.address + "#/search")
            browser.wait("the form", READY, "#/search")
            browser.run("location.hash = '#/clusters'")
            browser.wait_for_text("main", "Reading the control plane")
            assert browser.run("return document.activeElement.id") == "main"
            browser.run("document.querySelector('#views a').focus()")
            browser.wait_for_text("main h1", "clusters are ready")
            assert browser.run("return document.activeElement.dataset.view") == "fleet"
            assert browser.text("#news") == browser.text("main h1"), "ears are told that the answer is there"
    finally:
        line.stop()


def test_who_asked_wrongly_finds_the_form_again(world):
    long = "x" * 5000  # More than an address may have.
    with Browser() as browser:
        for address, field, value in (
                ("#/what-if?taint=member1", "cluster-1", "member1"), ("#/search?type=NoSuchKind", "field-type", "NoSuchKind"),
                ("#/hour?minutes=-1", "field-minutes", "-1"), ("#/object/NoSuchKind/shop/web?cluster=member1", "field-type", "NoSuchKind"),
                (f"#/?policy={long}", "field-policy", long), (f"#/policies?namespace={long}", "field-namespace", long),
                (f"#/explain?text={long}", "field-text", long)):
            browser.go(world.page.address + address)
            browser.wait("the refusal", "return document.querySelector('main > p.bad') && document.body.dataset.shown === arguments[0]", address)
            assert failure(browser), address
            assert browser.run("return document.getElementById(arguments[0])?.value", field) == value, address
            assert browser.run("return document.getElementById(arguments[0]).checkVisibility()", field), address
            said = browser.run("return document.getElementById(document.getElementById(arguments[0]).getAttribute('aria-describedby')).textContent", field)
            assert said == failure(browser), (address, said)
        show(browser, world.page, "#/object/NoSuchKind/shop/web?cluster=member2")
        assert browser.run("return ['type', 'namespace', 'name', 'cluster'].map((one) => document.getElementById(`field-${one}`).value)") == [
            "NoSuchKind", "shop", "web", "member2"]
        browser.run("document.getElementById('field-type').value = ''; document.getElementById('field-type').focus()")
        browser.write("deployment")
        browser.press(ENTER)
        heading = browser.wait("the object", READY, "#/object/deployment/shop/web?cluster=member2")
        assert "shop/web" in heading and not failure(browser), heading
        show(browser, world.page, "#/what-if")
        label = "return document.querySelector('main fieldset label').textContent"
        assert browser.run(label) == "this cluster"
        browser.run("""const select = document.getElementById("change-1");
            select.value = "capacity";
            select.dispatchEvent(new Event("change"));""")
        assert "CLUSTER:cpu=10" in browser.run(label)


def test_nothing_in_an_address_is_passed_over(world):
    """What is misspelled would else get an answer to another question."""
    with Browser() as browser:
        for address, name, field in (
                ("#/?ns=shop", "ns", "field-namespace"), ("#/clusters?cluster=member1", "cluster", None),
                ("#/policies?policy=web", "policy", "field-namespace"), ("#/search?img=nginx", "img", "field-image"),
                ("#/search?type=Pod&img=nginx", "img", "field-type"), ("#/what-if?evict=member1", "evict", "cluster-1"),
                ("#/what-if?drain=member1&losst=member2", "losst", "cluster-1"), ("#/hour?minute=15&only=warnings", "minute", "field-minutes"),
                ("#/explain?reason=SyncFailed", "reason", "field-text"), ("#/object/Deployment.v1.apps/shop/web?clusters=member1", "clusters", "field-type")):
            show(browser, world.page, address)
            assert failure(browser).startswith(f'there is no parameter "{name}"; there '), (address, browser.text("main"))
            assert not field or browser.run("return document.getElementById(arguments[0])?.checkVisibility()", field), address
        # What is the page's own, and a parameter without a value, is no question to the server.
        for address in ("#/hour?only=warnings", "#/search?image=", "#/what-if?drain=", "#/?namespace=", "#/clusters/"):
            show(browser, world.page, address)
            assert not failure(browser), (address, failure(browser))
        show(browser, world.page, "#/what-if?drain=member1&losst=member2")
        assert browser.run("return document.getElementById('cluster-1').value") == "member1"
        for address, name in (("#/nonsense", "nonsense"), ("#/constructor", "constructor"), ("#/clusters/member1", "clusters/member1")):
            assert show(browser, world.page, address) == f"There is no view {name}."
            assert browser.run("return document.querySelectorAll('#views [aria-current]').length") == 0, address
        browser.run("document.querySelector('main a').click()")
        assert "reason" in browser.wait("the view that is not in the list", READY, "#/explain")
        assert not complaints(browser)


def test_a_button_asks_again_although_no_field_has_changed(world):
    """Who has no key "r" has the button."""
    line = Line(world.page.port)
    line.delays["/api/updates"] = 600  # News about the fleet would be said, too.
    try:
        with Browser(width=360, height=740) as browser:
            for address, path in (("#/search?image=catalogue", "/api/search"), ("#/what-if?uncordon=member3", "/api/what-if"),
                                  ("#/explain?text=SyncFailed", "/api/explain"), ("#/object/NoSuchKind/shop/web", "/api/object"),
                                  ("#/hour?minutes=-1", "/api/hour")):
                browser.go(line.address + address)
                browser.wait(f"the view {address}", READY, address)
                line.delays[path] = 1
                asked = line.count(path)
                for times in (1, 2):
                    browser.run("""document.getElementById("news").textContent = "";
                        [...document.querySelectorAll("main form button")].at(-1).click()""")
                    browser.wait_for_text("#state", "sking again…")
                    eventually(f"{address} is asked for again", lambda path=path, most=asked + times: line.count(path) == most)
                    browser.wait("it is said", "return document.getElementById('news').textContent")
                    assert "sking again" not in browser.text("#state")
                    said = browser.text("#news")
                    assert said == (failure(browser) or "The answer is the same."), (address, said)
                    assert browser.address().endswith(address)
                del line.delays[path]
            # Where nothing is asked for, nothing is said.
            browser.go(line.address + "#/search")
            browser.wait("the form", READY, "#/search")
            browser.run("""document.getElementById("news").textContent = "";
                document.querySelector("main form button").click()""")
            assert browser.text("#news") == ""
            assert not complaints(browser)
    finally:
        line.stop()


def test_headlines_and_forms_keep_to_what_was_asked(world):
    with Browser() as browser:
        for minutes, span in (("1", "minute"), ("125", "125 minutes"), ("60", "hour"), ("120", "2 hours"), ("90", "90 minutes")):
            assert f" in the last {span}" in (heading := show(browser, world.page, f"#/hour?minutes={minutes}")), heading
            assert heading.partition(" in the last ")[2].split(",")[0].rstrip(".") == span, heading
        # A form keeps what has no field.
        show(browser, world.page, "#/hour?minutes=-5&only=warnings")
        browser.run("document.getElementById('field-minutes').value = '5'; document.querySelector('main form button').click()")
        browser.wait("the mended one", READY, "#/hour?minutes=5&only=warnings")
        for address in ("#/?namespace=nope", "#/policies?namespace=nope", "#/search?type=Pod&namespace=nope"):
            show(browser, world.page, address)
            assert "no namespace nope" in browser.text("main .notes.bad"), address
        show(browser, world.page, "#/policies?namespace=shop")
        assert not browser.text("main .notes.bad")
        # A question mark may stand in what is asked.
        browser.go(world.page.address + "#/explain?text=What?SyncFailed")
        browser.wait_for_text("main h1", "What?SyncFailed")
        assert browser.run("return document.getElementById('field-text').value") == "What?SyncFailed"
        assert not complaints(browser)


def test_an_alert_is_said_once(world):
    world.gate.tokens = {"t"}
    page = Page(world.gate.write_kubeconfig("t"))
    try:
        with Browser() as browser:
            show(browser, page, "#/clusters")
            browser.run("""window.said = [];
                new MutationObserver(() => window.said.push(document.getElementById("alert").textContent))
                    .observe(document.getElementById("alert"), {childList: true, characterData: true, subtree: true});""")
            world.gate.is_shut = True
            browser.wait("it says so", "return document.getElementById('alert').textContent.includes('earlier time')")
            browser.wait("two more news", NEWS, 3)
            said = browser.run("return window.said")
            assert all(a != b for a, b in zip(said, said[1:])), said
            assert ". What you see is of an earlier time." in said[-1], said
    finally:
        world.gate.is_shut = False
        page.stop()


def test_by_keyboard_alone(world):
    with Browser() as browser:
        world.rows()
        show(browser, world.page, "#/")
        browser.press(TAB)
        assert browser.run("return document.activeElement.id") == "skip"
        browser.press(ENTER)
        assert browser.run("return document.activeElement.id") == "main"
        for key, address in [("c", "#/clusters"), ("p", "#/policies"), ("s", "#/search"), ("w", "#/what-if"), ("h", "#/hour"), ("f", "#/")]:
            browser.press(key)
            browser.wait(f"{key} leads to {address}", READY, address)
        browser.press("j")
        assert browser.run("return document.querySelector('main').contains(document.activeElement)")
        for _ in range(40):
            if browser.run("return document.activeElement.getAttribute('href') ?? ''").startswith("#/object/"):
                break
            browser.press("j")
        target = browser.run("return document.activeElement.getAttribute('href')")
        browser.press(ENTER)
        browser.wait("Enter follows the link", READY, target)
        browser.press("f")
        browser.wait("f leads back", READY, "#/")
        # Each link of the front page, and each fold, in the order in which it is read; then again the first one.
        browser.run("""window.focused = [];
            document.querySelector("main").addEventListener("focusin", (event) => window.focused.push(event.target))""")
        number = browser.run("""window.reachable = [...document.querySelectorAll("main a[href], main summary, main button")].filter((one) => one.checkVisibility());
            return window.reachable.length""")
        assert number > 80, number
        browser.press(*["j"] * (number + 1))
        assert browser.run("""return window.focused.length === arguments[0] + 1 && window.focused.at(-1) === window.reachable[0]
            && window.reachable.every((one, i) => one === window.focused[i])""", number)
        assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid", "what has the focus is seen to have it"
        browser.press("?")
        assert browser.run("return document.getElementById('help').open")
        browser.press(ESCAPE)
        assert not browser.run("return document.getElementById('help').open")
        browser.press("s")
        browser.wait("the search", READY, "#/search")
        browser.press("/")
        assert browser.run("return document.activeElement.name") == "type"
        browser.write("Deployment")
        browser.press(ENTER)
        browser.wait("Enter searches", READY, "#/search?type=Deployment")
        browser.run("history.back()")
        browser.wait("the way back", READY, "#/search")


def test_what_is_touched_is_large_enough(world):
    """24 px each way, but for links within a sentence: WCAG 2.5.8."""
    small = """return [...document.querySelectorAll("a[href], button, summary, input, select")].filter((one) => {
        const box = one.getBoundingClientRect();
        const isInSentence = one.tagName === "A" && one.closest("main p:not(.choices)");
        return one.checkVisibility() && one.id !== "skip" && !isInSentence && (box.width < 24 || box.height < 24);
    }).map((one) => `${one.outerHTML.slice(0, 120)} ${one.getBoundingClientRect().width} x ${one.getBoundingClientRect().height}`)"""
    with Browser() as browser:
        for width in (1200, 360):
            browser.resize(width, 800)
            for name, address in VIEWS.items():
                show_all(browser, world.page, address)
                found = browser.run(small)
                assert not found, (width, name, found[:5])
            browser.run("document.getElementById('help-button').click()")
            found = browser.run(small)
            assert not found, (width, "the keys", found[:5])
            browser.press(ESCAPE)


def test_exact_times_by_a_switch(world):
    exact = r"/^(since )?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/"
    times = f"""return [...document.querySelectorAll("main time")].map((one) => [{exact}.test(one.textContent), one.dateTime.length > 0])"""
    with Browser() as browser:
        for address in (VIEWS["clusters"], VIEWS["object"]):
            show(browser, world.page, address)
            found = browser.run(times)
            assert found and all(one == [False, True] for one in found), (address, found)
        # By keyboard: the button is reached, and Enter uses it.
        browser.run("document.getElementById('times-button').focus()")
        browser.press(ENTER)
        assert browser.run("return document.getElementById('times-button').getAttribute('aria-pressed')") == "true"
        for address in (VIEWS["object"], VIEWS["clusters"], VIEWS["hour"]):
            show(browser, world.page, address)
            found = browser.run(times)
            assert found and all(one == [True, True] for one in found), (address, found)
        browser.wait("when it was read", "return /read \\d{4}-\\d\\d-\\d\\dT/.test(document.getElementById('state').textContent)")
        # It is kept, also when the page is opened again.
        browser.go("about:blank")
        show(browser, world.page, VIEWS["clusters"])
        assert all(one == [True, True] for one in browser.run(times))
        browser.press("t")
        assert all(one == [False, True] for one in browser.run(times))
        assert browser.run("return document.getElementById('times-button').getAttribute('aria-pressed')") == "false"
        # On a phone exact times fit, too.
        browser.press("t")
        browser.resize(360, 740)
        for name in ("clusters", "hour", "object"):
            show_all(browser, world.page, VIEWS[name])
            assert browser.run("return document.documentElement.scrollWidth") <= 360, name


def test_single_keys_can_be_turned_off(world):
    """WCAG 2.1.4."""
    with Browser() as browser:
        show(browser, world.page, "#/clusters")
        assert browser.run("return document.querySelector('#views a').title") == "Key f"
        browser.press("?")
        browser.run("document.getElementById('keys-switch').focus()")
        browser.press(" ")
        browser.press(ESCAPE)
        for again in (False, True):
            if again:  # It is kept.
                browser.go("about:blank")
                show(browser, world.page, "#/clusters")
            browser.press("p", "?", "/", "t", "j")
            assert browser.address().endswith("#/clusters")
            assert not browser.run("return document.getElementById('help').open")
            assert browser.run("return [document.activeElement === document.body || document.activeElement.id === 'help-button', "
                               "document.querySelector('#views a').title, document.querySelector('#help-button kbd').checkVisibility()]") == [True, "", False]
        browser.run("document.getElementById('help-button').click()")
        browser.run("document.getElementById('keys-switch').click()")
        browser.press(ESCAPE)
        browser.press("p")
        browser.wait("keys do something again", READY, "#/policies")


def test_copy_buttons_say_what_they_copy(world):
    script = """return [...document.querySelectorAll(".command")].map((one) => [one.querySelector("button").getAttribute("aria-label"),
        one.querySelector("pre").textContent])"""
    with Browser() as browser:
        for name in ("object", "what-if"):
            show(browser, world.page, VIEWS[name])
            found = browser.run(script)
            assert found, name
            for label, copied in found:
                assert label.startswith("Copy: ") and label.endswith(f", {copied}"), (label, copied)


def test_who_has_copied_a_command_stays_at_it(world):
    with Browser() as browser:
        # The name of a button that was pressed is another one until it is drawn again, as it is for two seconds else.
        browser.run_first("""const later = window.setTimeout;
            window.setTimeout = (act, length, ...more) => (length === 2000 ? 0 : later(act, length, ...more));
            const asked = window.fetch;
            window.fetch = async (address, ...more) => {
                const answer = await asked(address, ...more);
                if (!window.headline || !String(address).includes("api/object")) return answer;
                return new Response(JSON.stringify({...await answer.json(), headline: window.headline}), {status: answer.status});
            };""")
        show(browser, world.page, VIEWS["object"])
        pressed = browser.run("""const button = [...document.querySelectorAll(".command button")].at(-1);
            button.focus();
            button.click();
            return button.getAttribute("aria-label")""")
        browser.wait("it is said on the button", """const name = document.activeElement.getAttribute("aria-label");
            return name && name !== arguments[0]""", pressed)
        browser.run("window.headline = 'It is another one.'")
        browser.press("r")
        browser.wait_for_text("main h1", "another one")
        assert browser.run("return document.activeElement.getAttribute('aria-label')") == pressed


def test_the_link_is_copied_or_it_is_said_that_it_is_not(world):
    with Browser() as browser:
        show(browser, world.page, "#/explain")
        for clipboard, words in (("{writeText: async () => {}}", "The link is copied"), ("undefined", "The link cannot be copied: take it from the address bar"),
                                 ("{writeText: () => Promise.reject(new Error('no'))}", "The link cannot be copied: take it from the address bar")):
            browser.run(f"""Object.defineProperty(navigator, "clipboard", {{value: {clipboard}, configurable: true}});
                document.getElementById("news").textContent = "";""")
            browser.press("y")
            browser.wait_for_text("#news", words)
            assert browser.text("#state") == words, "eyes are told, too"
        assert not complaints(browser)


def test_a_screen_reader_finds_its_way(world):
    script = """
    const nameless = (one) => !(one.textContent.trim() || one.getAttribute("aria-label"));
    return {
      landmarks: ["header", "nav[aria-label]", "main"].filter((one) => !document.querySelector(one)),
      levels: [...document.querySelectorAll("main h1, main h2, main h3")].map((one) => Number(one.tagName[1])),
      heads: [...document.querySelectorAll("table thead th:not([scope=col])")].length,
      rows: [...document.querySelectorAll("main tbody tr")].filter((one) => !one.querySelector("th[scope=row]")).length,
      captions: [...document.querySelectorAll("main table")].filter((one) => !one.caption).length,
      fields: [...document.querySelectorAll("input, select")].filter((one) => !one.labels.length).length,
      buttons: [...document.querySelectorAll("button, a, summary")].filter(nameless).length,
      pictures: [...document.querySelectorAll("main img:not([alt]), main svg:not([aria-hidden]):not([aria-label])")].length,
      marks: [...document.querySelectorAll(".mark")].filter(nameless).length,
      hidden: document.querySelectorAll("[role=img] a, [aria-hidden=true] a").length,
      unnamed: document.querySelectorAll("svg a:not([aria-label])").length,
      ids: [...document.querySelectorAll("[id]")].map((one) => one.id).filter((one, i, all) => all.indexOf(one) !== i),
      live: document.querySelectorAll("[aria-live], [role=alert]").length > 1, lang: document.documentElement.lang,
    };"""
    with Browser() as browser:
        for name, address in everything(world).items():
            show_all(browser, world.page, address)
            found = browser.run(script)
            levels = found.pop("levels")
            assert levels[0] == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:])), (name, levels)
            assert found == {"landmarks": [], "heads": 0, "rows": 0, "captions": 0, "fields": 0, "buttons": 0, "pictures": 0, "marks": 0, "hidden": 0, "unnamed": 0,
                             "ids": [], "live": True, "lang": "en"}, (name, found)


# What somebody can do something with, or has to be told the name of.
NAMED = {"link", "button", "textbox", "searchbox", "combobox", "DisclosureTriangle", "table", "navigation", "region", "image", "dialog", "heading"}


def test_a_screen_reader_is_told_roles_and_names(world):
    """As the browser tells them: a role that the style or the markup has taken away is not there."""
    with Browser() as browser:
        for width, (name, address) in [(width, one) for width in (1200, 360) for one in VIEWS.items()]:
            browser.resize(width, 800)
            heading = show_all(browser, world.page, address)
            tree = browser.told()
            nameless = [role for role, said, _ in tree if role in NAMED and not said]
            assert not nameless, (width, name, nameless)
            by_role = {}
            for role, said, properties in tree:
                by_role.setdefault(role, []).append((said, properties))
            assert [said for said, properties in by_role["heading"] if properties["level"] == 1] == [heading], (width, name, by_role["heading"])
            assert [said for said, _ in by_role["navigation"]] == ["Views"] and len(by_role["main"]) == len(by_role["banner"]) == 1, (width, name)
            assert {"Not fine", "Clusters", "Policies", "Search", "What if", "Last hour"} <= {said for said, _ in by_role["link"]}, (width, name)
            shown = browser.run("""return {tables: [...document.querySelectorAll("main table")].map((one) => one.caption.textContent),
                rows: document.querySelectorAll("main tbody tr").length, columns: document.querySelectorAll("main thead th").length,
                fields: [...document.querySelectorAll("main input")].map((one) => one.labels[0].firstChild.textContent)}""")
            assert [said for said, _ in by_role.get("table", [])] == shown["tables"], (width, name)
            assert len(by_role.get("rowheader", [])) == shown["rows"], (width, name)
            assert len(by_role.get("columnheader", [])) == shown["columns"], (width, name)
            assert [said for said, _ in by_role.get("textbox", [])] == shown["fields"], (width, name)


def test_a_phone_shows_all_of_it_without_scrolling_sideways(world):
    with Browser(width=360, height=740) as browser:
        for name, address in everything(world).items():
            show_all(browser, world.page, address)
            width = browser.run("return document.documentElement.scrollWidth")
            assert width <= 360, (name, width, browser.run(
                "return [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > 361).slice(0, 5).map((one) => one.outerHTML.slice(0, 150))"))
        show(browser, world.page, VIEWS["object"])
        box = browser.run("""const box = document.querySelector(".journey g.is-bad").getBoundingClientRect();
            return [box.left, box.right]""")
        assert 0 <= box[0] and box[1] <= 360, ("the first box that is not fine is seen", box)
        browser.resize(320, 640)
        for name in ("what-if-form", "what-if", "search-form"):
            show(browser, world.page, VIEWS[name])
            inside = browser.run("return [document.documentElement.clientWidth, ...[...document.querySelectorAll('main form *')]"
                                 ".map((one) => one.getBoundingClientRect().right)]")
            assert max(inside) <= inside[0], (name, inside)


CONTRAST = """
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const ground = (one) => {
  for (let at = one; at; at = at.parentElement) {
    const color = parse(getComputedStyle(at).backgroundColor);
    if (color.length === 3 || color[3] > 0) return color;
  }
  return [255, 255, 255];
};
const weak = [];
for (const one of document.querySelectorAll("body *")) {
  const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  if (!own || !one.offsetParent || one.closest("svg")) continue;
  const [a, b] = [light(parse(getComputedStyle(one).color)), light(ground(one))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) weak.push(`${one.tagName} ${one.className} ${ratio.toFixed(2)}`);
}
return [...new Set(weak)];
"""


def test_light_and_dark_can_be_read(world):
    grounds = {}
    with Browser() as browser:
        for scheme in ("light", "dark"):
            browser.prefer(scheme)
            for name, address in everything(world).items():
                show_all(browser, world.page, address)
                weak = browser.run(CONTRAST)
                assert not weak, (scheme, name, weak)
            grounds[scheme] = browser.run("return getComputedStyle(document.documentElement).backgroundColor")
    assert grounds["light"] != grounds["dark"]


def test_with_tokens_each_viewer_shows_one(world):
    world.gate.tokens = {"alice-secret-token"}
    log = world.folder / "serve.log"
    page = Page(world.gate.write_kubeconfig("nobody"), *world.certificate, listen="127.0.0.1:0", log=log)
    try:
        with Browser(more=["--ignore-certificate-errors"]) as browser:
            browser.go(page.address + "#/clusters")
            browser.wait_for_text("main h1", "A token is needed")
            # What a chat has put around it cannot be sent.
            browser.run("document.getElementById('token').value = 'alice-secret-token\\u200b'")
            browser.press(ENTER)
            browser.wait_for_text("main", "cannot be a token")
            assert browser.run("return sessionStorage.length") == 0
            browser.write("mallory")
            browser.press(ENTER)
            browser.wait_for_text("main", "does not accept the token")
            browser.wait("the field is empty", "return document.getElementById('token').value === '' && document.activeElement.id === 'token'")
            browser.write("alice-secret-token")
            browser.press(ENTER)
            browser.wait_for_text("main h1", "clusters are ready")
            assert browser.run("return document.activeElement.id") == "main", "the focus is in what is shown"
            assert "alice" not in browser.address()
            assert browser.run("return Object.values(sessionStorage).join() + '|' + Object.values(localStorage).join() + document.cookie") == "alice-secret-token|"
            # It expires while somebody looks.
            world.gate.tokens = {"another"}
            browser.wait_for_text("main h1", "A token is needed")
            assert "member1" not in browser.text("main"), "what was read is not shown any more"
            browser.write("another")
            browser.press(ENTER)
            browser.wait_for_text("main h1", "clusters are ready")
            assert not complaints(browser)
    finally:
        page.stop()
    assert "alice" not in log.read_text(encoding="utf-8")
    assert not any("alice" in path for path in world.gate.seen)


def test_a_token_that_cannot_be_sent_is_asked_for_again(world):
    page = Page(world.gate.write_kubeconfig("nobody"), *world.certificate, listen="127.0.0.1:0")
    try:
        with Browser(more=["--ignore-certificate-errors"]) as browser:
            browser.run_first("if (location.protocol === 'https:') sessionStorage.setItem('karmada-lens-token', 'kept\\u200b')")
            browser.go(page.address + "#/clusters")
            browser.wait_for_text("main h1", "A token is needed")
    finally:
        page.stop()


NEWS = """
const news = performance.getEntriesByName("news")[0]?.startTime ?? 0;
if (window.lastNews !== news) { window.lastNews = news; window.newsSeen = (window.newsSeen ?? 0) + 1; }
return window.newsSeen >= arguments[0];
"""


def test_a_view_that_is_slower_than_the_news_appears(world):
    line = Line(world.page.port)
    line.delays["/api/object"] = 8
    try:
        with Browser() as browser:
            browser.go(line.address + VIEWS["object"])
            browser.wait("the view", READY, VIEWS["object"])
            assert line.count("/api/object") == 1, line.asked
            eventually("it follows", lambda: line.count("/api/object") > 1)
    finally:
        line.stop()


def test_a_question_that_cannot_be_answered_is_not_repeated(world):
    line = Line(world.page.port)
    try:
        with Browser() as browser:
            browser.go(line.address + "#/hour?minutes=-1")
            browser.wait_for_text("main", "not a number")
            assert "tries again" not in browser.text("main")
            assert "not a number" in failure(browser)
            browser.wait("two more news", NEWS, 3)
            assert line.count("/api/hour") == 1, line.asked
    finally:
        line.stop()


def test_a_taint_is_shown_where_nothing_else_changes(world):
    path = "/apis/cluster.karmada.io/v1alpha1/clusters/member3"

    def taint(taints):
        def is_written():
            try:
                cluster = world.sandbox.call("GET", path)
                cluster["spec"]["taints"] = taints
                return world.sandbox.call("PUT", path, cluster)
            except urllib.error.HTTPError as error:
                assert error.code == 409, error.read()  # Its status has been written meanwhile.
                return None

        eventually("the taints are written", is_written)

    with Browser() as browser:
        show(browser, world.page, "#/clusters")
        before = world.page.ask("fleet")["fingerprint"]
        try:
            taint([{"key": "looked-at", "effect": "PreferNoSchedule"}])
            browser.wait_for_text("main table", "looked-at:PreferNoSchedule")
            assert world.page.ask("fleet")["fingerprint"] == before
        finally:
            taint([])


def test_the_state_says_of_when_the_answer_is(world):
    # The clock of this browser is wrong by an hour, and that of the answers counts.
    with Browser() as browser:
        browser.run_first("const now = Date.now; Date.now = () => now() + 3600000;")
        show(browser, world.page, "#/search?image=catalogue")
        assert "Live" not in browser.text("#state"), "a search is not followed"
        browser.wait("when it was read", "return /^Read \\d+ s ago$/.test(document.getElementById('state').textContent)")
        show(browser, world.page, "#/explain?text=SyncFailed")
        assert browser.text("#state") == ""
        show(browser, world.page, "#/clusters")
        browser.wait("it is live", "return /^Live · read \\d+ s ago$/.test(document.getElementById('state').textContent)")


def test_a_line_that_dies_silently_is_said(world):
    line = Line(world.page.port)
    try:
        with Browser() as browser:
            # Twelve seconds of silence stand for the 45 that the page waits.
            browser.run_first("const after = window.setTimeout; window.setTimeout = (f, ms, ...more) => after(f, ms === 45000 ? 12000 : ms, ...more);")
            browser.go(line.address + "#/clusters")
            browser.wait("it is live", "return document.getElementById('state').textContent.startsWith('Live')")
            line.loses_all = True
            browser.wait("it says so", "return document.getElementById('alert').textContent.includes('Nothing has come')")
            assert browser.text("#state").startswith("Not live"), browser.text("#state")
            line.loses_all = False
            browser.wait("it is live again", "return document.getElementById('state').textContent.startsWith('Live')")
    finally:
        line.stop()


def test_what_was_opened_is_not_asked_again_at_each_redraw(world):
    line = Line(world.page.port)
    try:
        with Browser() as browser:
            browser.go(line.address + VIEWS["object"])
            browser.wait("the view", READY, VIEWS["object"])
            browser.run("document.querySelector('details[data-name=graph]').open = true")
            browser.wait("the picture", "return document.querySelector('details[data-name=graph] img')")
            world.sandbox.create({"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"web.{time.time_ns()}", "namespace": "shop"},
                                  "involvedObject": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
                                  "reason": "LookedAt", "message": "somebody has looked", "type": "Normal",
                                  "lastTimestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
            browser.wait_for_text("main", "somebody has looked")
            assert browser.run("return document.querySelector('details[data-name=graph]').open")
            assert browser.run("return document.querySelector('details[data-name=graph] img')")
            assert line.count("/api/graph") == 1, line.asked
            browser.run("document.querySelector('details[data-name=graph]').open = false")
            browser.run("setTimeout(() => { document.querySelector('details[data-name=graph]').open = true; }, 100)")
            eventually("it is read again when it is opened again", lambda: line.count("/api/graph") == 2)
    finally:
        line.stop()


def test_nothing_is_concluded_from_what_may_not_be_read(world):
    world.gate.tokens = {"t"}
    page = Page(world.gate.write_kubeconfig("t"))
    try:
        with Browser() as browser:
            world.gate.refused = "resourcebindings"
            show(browser, page, "#/clusters")
            assert "not known" in browser.text("main table"), browser.text("main table")
            assert "cannot list" in browser.text("main .notes")
            assert "not known" in show(browser, page, "#/policies")
            assert "selects nothing" not in browser.text("main") and "governs nothing" not in browser.text("main")
    finally:
        world.gate.refused = ""
        page.stop()


def test_commands_name_the_control_plane_where_it_is_the_viewers(world):
    question = "object?type=Deployment.v1.apps&namespace=shop&name=web"
    commands = [one["command"] for one in world.page.ask(question)["commands"]]
    assert len(commands) > 2
    for command in commands:
        assert f" --kubeconfig {world.sandbox.kubeconfig}" in command, command


def test_a_plane_that_goes_away_and_comes_back(world):
    world.gate.tokens = {"t"}
    page = Page(world.gate.write_kubeconfig("t"))
    try:
        with Browser() as browser:
            show(browser, page, "#/clusters")
            world.gate.is_shut = True
            browser.wait("it says so", "return document.getElementById('alert').textContent.includes('earlier time')")
            assert "member1" in browser.text("main"), "what was there stays"
            browser.run("location.hash = '#/policies'")
            browser.wait_for_text("main", "tries again by itself")
            world.gate.is_shut = False
            browser.wait_for_text("main", "govern nothing")
            browser.wait("the alert goes", "return !document.getElementById('alert').textContent")
    finally:
        world.gate.is_shut = False
        page.stop()


def test_a_server_that_ends_is_said(world):
    page = Page(world.sandbox.kubeconfig)
    with Browser() as browser:
        show(browser, page, "#/clusters")
        listen = f"127.0.0.1:{page.port}"
        page.stop()
        browser.wait("it says so", "return document.getElementById('alert').textContent.includes('earlier time')")
        assert "Not live" in browser.text("#state")
        page = Page(world.sandbox.kubeconfig, listen=listen)
        try:
            browser.wait("it follows again", "return document.getElementById('state').textContent.startsWith('Live')")
            browser.wait("nothing is said any more", "return document.getElementById('alert').textContent === ''")
        finally:
            page.stop()


def test_credentials_of_the_server_that_are_renewed_while_somebody_looks(world):
    world.gate.tokens = {"first"}
    page = Page(world.gate.write_kubeconfig("first"))
    try:
        with Browser() as browser:
            show(browser, page, "#/clusters")
            world.gate.tokens = {"second"}
            browser.wait("it says so", "return document.getElementById('alert').textContent.includes('accept the kubeconfig')")
            assert "Renew the credentials" in browser.text("#alert"), browser.text("#alert")
            assert "member1" in browser.text("main"), "what was there stays"
            browser.run("location.hash = '#/policies'")
            browser.wait_for_text("main", "tries again by itself")
            world.gate.write_kubeconfig("second")
            browser.wait_for_text("main", "govern nothing")
            browser.wait("it follows again", """return document.getElementById('state').textContent.startsWith('Live')
                && !document.getElementById('alert').textContent""")
    finally:
        page.stop()


def test_credentials_of_a_cluster_that_expire_and_are_renewed(world):
    secret = "/api/v1/namespaces/karmada-cluster/secrets/member2"
    good = world.sandbox.call("GET", secret)["data"]["token"]

    def put(token):
        world.sandbox.call("PUT", secret, {**world.sandbox.call("GET", secret), "data": {
            **world.sandbox.call("GET", secret)["data"], "token": token}})

    with Browser() as browser:
        show(browser, world.page, "#/object/Deployment.v1.apps/fine/catalogue")
        before = browser.text("main h1")
        put(base64.b64encode(b"expired").decode())
        try:
            browser.wait_for_text("main h1", "member2 refuses Karmada's credentials (Secret karmada-cluster/member2)")
            assert "Put a valid token into that Secret" in browser.text("main .advice"), browser.text("main .advice")
        finally:
            put(good)
        browser.wait("it is fine again", "return document.querySelector('main h1').textContent === arguments[0]", before)
        show(browser, world.page, "#/clusters")
        browser.wait_for_text("main h1", "3 of 3")


def passes_the_gate(case):
    """Whether the page of the case reads the control plane through the gate, which is slower than one."""
    return "gate" in case.__code__.co_names


# The pictures first, then what passes the gate, while the fleet is small.
ALL = sorted((case for name, case in list(globals().items()) if name.startswith("test_")),
             key=lambda case: (case is not test_pictures_for_the_documents, not passes_the_gate(case)))
