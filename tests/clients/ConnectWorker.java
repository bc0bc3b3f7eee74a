import java.util.Map;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.connect.connector.policy.AllConnectorClientConfigOverridePolicy;
import org.apache.kafka.connect.runtime.Worker;
import org.apache.kafka.connect.runtime.isolation.Plugins;
import org.apache.kafka.connect.runtime.standalone.StandaloneConfig;
import org.apache.kafka.connect.runtime.standalone.StandaloneHerder;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.FileOffsetBackingStore;
import org.apache.kafka.connect.util.FutureCallback;

/** Runs a standalone worker of Kafka Connect with one connector, as connect-standalone does, without its interface. */
public class ConnectWorker {
    public static void main(String[] files) throws Exception {
        Map<String, String> settings = Utils.propsToStringMap(Utils.loadProps(files[0]));
        Map<String, String> connector = Utils.propsToStringMap(Utils.loadProps(files[1]));
        Plugins plugins = new Plugins(settings);
        plugins.compareAndSwapWithDelegatingLoader();
        StandaloneConfig config = new StandaloneConfig(settings);
        AllConnectorClientConfigOverridePolicy policy = new AllConnectorClientConfigOverridePolicy();
        Converter keys = plugins.newInternalConverter(true, "org.apache.kafka.connect.json.JsonConverter", Map.of("schemas.enable", "false"));
        FileOffsetBackingStore offsets = new FileOffsetBackingStore(keys);
        offsets.configure(config);
        Worker worker = new Worker("worker", Time.SYSTEM, plugins, config, offsets, policy);
        StandaloneHerder herder = new StandaloneHerder(worker, config.kafkaClusterId(), policy);
        Runtime.getRuntime().addShutdownHook(new Thread(herder::stop));
        herder.start();
        FutureCallback<org.apache.kafka.connect.runtime.Herder.Created<org.apache.kafka.connect.runtime.rest.entities.ConnectorInfo>> made = new FutureCallback<>();
        herder.putConnectorConfig(connector.get("name"), connector, false, made);
        made.get();
        Thread.currentThread().join();
    }
}
