import org.codelibs.opensearch.runner.OpenSearchRunner;

/** Runs one OpenSearch node on loopback until the process is killed: OneNode FOLDER PORT. */
public class OneNode {
  public static void main(String[] args) throws Exception {
    OpenSearchRunner runner = new OpenSearchRunner();
    int port = Integer.parseInt(args[1]);
    runner.onBuild((number, settings) -> {
      settings.put("http.port", String.valueOf(port));
      settings.put("http.host", "127.0.0.1");
      settings.put("transport.host", "127.0.0.1");
      settings.put("transport.port", "0");
      // A full disk of the machine is no reason to refuse writes of a test.
      settings.put("cluster.routing.allocation.disk.threshold_enabled", "false");
    });
    runner.build(OpenSearchRunner.newConfigs()
        .basePath(args[0]).clusterName("testbed").numOfNode(1).useLogger());
    System.out.println("ready on " + port);
    Thread.sleep(Long.MAX_VALUE);
  }
}
